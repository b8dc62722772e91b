// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Legality.cpp - What a version of the portable format can say -------===//
#include "passes/vhlo/Legality.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

std::string text(auto value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Checks a type or attribute and all its parts, except those of other dialects.
class PartChecker {
public:
  explicit PartChecker(Version target) : target(target) {
    walker.addWalk([this](Type type) { return check(type); });
    walker.addWalk([this](Attribute attr) { return check(attr); });
  }
  template <typename T> bool accepts(T value, std::string &why) {
    bool legal = !walker.walk(value).wasInterrupted();
    if (!legal)
      why = std::move(reason);
    return legal;
  }

private:
  template <typename T> WalkResult check(T value) {
    if (!isVhlo(value))
      return WalkResult::skip();
    if (minVersion(value) <= target)
      return WalkResult::advance();
    reason = "version " + target.str() + " has no " + text(value);
    return WalkResult::interrupt();
  }

  Version target;
  std::string reason;
  AttrTypeWalker walker;
};

Type elementType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorV1Type>(type))
    return tensor.getElementType();
  if (auto tensor = dyn_cast<UnrankedTensorV1Type>(type))
    return tensor.getElementType();
  return type;
}

// Returns true if a reduction computes in another type than that of its inputs, which is allowed since 0.17.
bool promotes(Operation *op) {
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes()))
    if (elementType(operand) != elementType(result))
      return true;
  return false;
}

bool constraintsHold(Operation *op, const OpDef &def, Version target, std::string &why) {
  static constexpr StringLiteral reductions[] = {"all_reduce",     "reduce",  "reduce_scatter",
                                                 "reduce_window", "scatter", "select_and_scatter"};
  if (target < Version(0, 17) && llvm::is_contained(reductions, def.stem()) && promotes(op))
    return why = "version " + target.str() + " cannot promote in a reduction", false;
  if (def.stem() == "custom_call") {
    if (target < Version(1, 3) && isa_and_nonnull<DictV1Attr>(op->getAttr("backend_config")))
      return why = "version " + target.str() + " has no dictionary as backend_config", false;
    auto has = [&](auto predicate) {
      return llvm::any_of(op->getOperandTypes(), predicate) || llvm::any_of(op->getResultTypes(), predicate);
    };
    if (target < Version(1, 17) && has([](Type type) { return isa<FutureV1Type>(type); }))
      return why = "version " + target.str() + " has no futures in custom_call", false;
  }
  return true;
}

} // namespace

bool isLegal(Operation *op, Version target, std::string &why) {
  PartChecker parts(target);
  for (NamedAttribute attr : op->getAttrs())
    if (!parts.accepts(attr.getValue(), why))
      return false;
  for (Type type : op->getOperandTypes())
    if (!parts.accepts(type, why))
      return false;
  for (Type type : op->getResultTypes())
    if (!parts.accepts(type, why))
      return false;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (!parts.accepts(type, why))
          return false;
  if (!constraintsHold(op, *opDef(op), target, why))
    return false;
  // Readers before 1.9 support positions, not ranges.
  bool hasRange = op->getLoc()
                      ->walk([](Location loc) {
                        auto range = dyn_cast<FileLineColRange>(loc);
                        return range && !isa<FileLineColLoc>(loc) ? WalkResult::interrupt() : WalkResult::advance();
                      })
                      .wasInterrupted();
  if (hasRange && target < Version(1, 9))
    return why = "version " + target.str() + " has no location " + text(op->getLoc()), false;
  return true;
}

LogicalResult reportIllegal(Operation *op, StringRef why) {
  // The error is one text: upstream gives no reason, and its tests accept a longer message, but not a note.
  return emitError(op->getLoc()) << "failed to legalize operation '" << op->getName() << "' that was explicitly marked illegal: " << why;
}

FailureOr<Version> parseTargetVersion(StringRef text, EmitError emitError) {
  std::optional<Version> version = Version::parse(text);
  if (!version && text.empty())
    return emitError() << "No target version specified.\nTarget version must be of the form `#.#.#`.";
  if (!version)
    return emitError() << "Invalid target version argument '" << text
                       << "'\nTarget version must be of the form `#.#.#`.";
  if (*version < minimumVersion)
    return emitError() << "target version " << version->str() << " is less than minimum supported "
                       << minimumVersion.str();
  if (currentVersion < version->withoutPatch())
    return emitError() << "target version " << version->str() << " is greater than current version "
                       << currentVersion.str();
  return *version;
}

} // namespace millrace::vhlo
