// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rules.cpp - Requirements of builtin attributes and types -----------===//
// MLIR's bytecode reader builds builtin and quant entries without the checks that its text parser makes.
#include "dialects/bytecode/Grammar.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

namespace millrace::bytecode {
namespace {

constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();
constexpr uint64_t kMaxIntegerBits = (1 << 24) - 1;
constexpr unsigned kMaxQuantBits = 32;

class RuleChecker {
public:
  RuleChecker(Reader file, const Artifact &artifact) : file(file), artifact(artifact) {}

  void run() {
    for (const Entry &type : artifact.types) {
      current = &type;
      if (type.custom && type.dialect == "builtin")
        checkBuiltinType(type);
      else if (type.custom && type.dialect == "quant")
        checkQuantType(type);
      else if (type.is("vhlo", vhlo::kTensor) || type.is("vhlo", vhlo::kTensorWithEncoding))
        checkQuantizedAxis(artifact.entry(type.references.back()), type.numbers);
    }
    for (const Entry &attribute : artifact.attributes) {
      current = &attribute;
      if (attribute.custom && attribute.dialect == "builtin")
        checkBuiltinAttribute(attribute);
      else if (attribute.is("vhlo", vhlo::kTensorAttr))
        checkVhloTensor(attribute);
    }
  }

private:
  void expect(bool condition, const llvm::Twine &message) {
    if (!condition)
      file.within(current->data).fail(message);
  }

  const Entry &part(const Entry &entry, size_t i) { return artifact.entry(entry.references[i]); }
  NumberType numbers(const Entry &type) { return numberType(artifact, type); }

  //===--- types ---===//

  void checkBuiltinType(const Entry &type) {
    switch (type.code) {
    case builtin::kIntegerType:
      expect(uint64_t(type.numbers[0]) >> 2 <= kMaxIntegerBits && (type.numbers[0] & 3) != 3,
             "expects an integer type's width to be at most 16777215 bits, and its sign 0, 1 or 2");
      return;
    case builtin::kComplexType: {
      NumberType element = numbers(part(type, 0));
      expect(element.kind == NumberType::Integer || element.kind == NumberType::Float,
             "expects a complex type of integers or floats");
      return;
    }
    case builtin::kTensor:
      checkShape(type.numbers, 0);
      checkTensorElement(part(type, 0), &type.numbers);
      return;
    case builtin::kTensorWithEncoding:
      checkShape(type.numbers, 0);
      checkTensorElement(part(type, 1), &type.numbers);
      checkEncoding(part(type, 0), type.numbers);
      return;
    case builtin::kUnrankedTensor:
      checkTensorElement(part(type, 0), nullptr);
      return;
    case builtin::kVector: {
      checkShape(type.numbers, 1);
      NumberType element = numbers(part(type, 0));
      expect(element.kind != NumberType::None && element.kind != NumberType::Complex,
             "expects a vector of integers, indices or floats");
      return;
    }
    case builtin::kScalableVector:
      expect(false, "scalable vectors are not accepted");
      return;
    case builtin::kMemRef:
    case builtin::kMemRefWithSpace: {
      size_t first = type.code == builtin::kMemRef ? 0 : 1;
      checkShape(type.numbers, 0);
      checkBufferElement(part(type, first));
      checkLayout(part(type, first + 1), type.numbers.size());
      return;
    }
    case builtin::kUnrankedMemRef:
      checkBufferElement(part(type, 0));
      return;
    case builtin::kUnrankedMemRefWithSpace:
      checkBufferElement(part(type, 1));
      return;
    default:
      return;
    }
  }

  /// Checks that sizes are at least `least`, or may be dynamic if `least` is 0 (vectors have no dynamic sizes).
  void checkShape(llvm::ArrayRef<int64_t> shape, int64_t least) {
    for (int64_t size : shape)
      expect(size >= least || (size == kDynamic && least == 0), "expects a dimension size of at least " +
             llvm::Twine(least) + ", but got " + llvm::Twine(size));
  }

  void checkTensorElement(const Entry &element, const llvm::SmallVectorImpl<int64_t> *shape) {
    bool valid = numbers(element).kind != NumberType::None || element.dialect != "builtin" || element.is("builtin",
                                                                                                         builtin::kVector);
    expect(valid, "a tensor cannot have elements of this type");
    if (shape)
      checkQuantizedAxis(element, *shape);
  }

  /// Checks that the quantized dimension exists and has as many elements as there are scales. VHLO types have the same fields as quant.
  void checkQuantizedAxis(const Entry &element, llvm::ArrayRef<int64_t> shape) {
    if (!element.is("quant", quant::kPerAxis) && !element.is("vhlo", vhlo::kQuantPerAxis))
      return;
    uint64_t dim = element.numbers[1];
    if (dim >= shape.size())
      expect(false, "expects a quantized dimension below the rank " + llvm::Twine(shape.size()) + ", but got " +
                        llvm::Twine(dim));
    else
      expect(shape[dim] == kDynamic || uint64_t(shape[dim]) == element.reals.size(),
             "expects as many scales as the quantized dimension has elements");
  }

  void checkBufferElement(const Entry &element) {
    bool isBuffer = element.custom && element.dialect == "builtin" &&
                    (element.code == builtin::kMemRef || element.code == builtin::kMemRefWithSpace ||
                     element.code == builtin::kUnrankedMemRef || element.code == builtin::kUnrankedMemRefWithSpace);
    expect(isBuffer || numbers(element).kind != NumberType::None || element.is("builtin", builtin::kVector),
           "a memref cannot have elements of this type");
  }

  /// Returns the items of a comma-separated list.
  static llvm::SmallVector<llvm::StringRef> items(llvm::StringRef list) {
    llvm::SmallVector<llvm::StringRef> result;
    if (!list.trim().empty())
      list.split(result, ',');
    for (llvm::StringRef &item : result)
      item = item.trim();
    return result;
  }

  /// Checks the bounds of dynamic dimensions: one per dimension, and none for static sizes.
  void checkEncoding(const Entry &encoding, llvm::ArrayRef<int64_t> shape) {
    if (encoding.custom || encoding.dialect != "stablehlo")
      return;
    llvm::StringRef text = encoding.text();
    llvm::StringRef list;
    if (text.contains('['))
      list = text.split('[').second.split(']').first;
    else
      list = text.split('<').second.split('>').first;
    llvm::SmallVector<llvm::StringRef> bounds = items(list);
    expect(bounds.size() == shape.size(), "expects " + llvm::Twine(shape.size()) + " bounds of dimensions, but got " +
           llvm::Twine(bounds.size()));
    for (auto [bound, size] : llvm::zip(bounds, shape))
      expect(bound == "?" || size == kDynamic, "expects bounds of dynamic dimensions only");
  }

  /// Checks a layout, which is an identity map or strides, because MLIR does not check the ranks of either.
  void checkLayout(const Entry &layout, size_t rank) {
    llvm::StringRef text = layout.custom || layout.dialect != "builtin" ? "" : layout.text();
    std::string dims;
    for (size_t i = 0; i < rank; ++i)
      dims += (i ? ", d" : "d") + std::to_string(i);
    if (text == "affine_map<(" + dims + ") -> (" + dims + ")>")
      return;
    bool strided = text.consume_front("strided<[");
    expect(strided &&
           items(text.split(']').first).size() == rank,
           "expects the layout of a memref to be the identity or strided, of rank " + llvm::Twine(rank));
  }

  void checkQuantType(const Entry &type) {
    bool hasExpressed = type.code != quant::kAny;
    if (type.code == quant::kSubChannel) {
      expect(false, "sub-channel quantization is not accepted");
      return;
    }
    if (hasExpressed) {
      const Entry &expressed = part(type, type.code == quant::kCalibrated ? 0 : 1);
      expect(numbers(expressed).kind == NumberType::Float, "expects a quantized type to stand for floats");
    }
    if (type.code == quant::kCalibrated) {
      expect(llvm::bit_cast<double>(type.reals[0]) < llvm::bit_cast<double>(type.reals[1]),
             "expects a calibrated type's minimum below its maximum");
      return;
    }
    NumberType storage = numbers(part(type, 0));
    bool fits = storage.kind == NumberType::Integer && storage.isSignless && storage.bits >= 1 &&
                storage.bits <= kMaxQuantBits;
    expect(fits, "expects quantized storage in a signless integer of 1 to " + llvm::Twine(kMaxQuantBits) + " bits");
    if (!fits)
      return;
    uint64_t flags = type.numbers[0];
    expect(flags <= 1, "expects the flags of a quantized type to be 0 or 1");
    // Fields in file order: flags, then zero point (uniform) or dimension (per axis), then the range.
    size_t first = type.code == quant::kUniform || type.code == quant::kPerAxis ? 2 : 1;
    int64_t low = type.numbers[first], high = type.numbers[first + 1];
    int64_t least = flags & 1 ? -(int64_t(1) << (storage.bits - 1)) : 0;
    int64_t most = (int64_t(1) << (flags & 1 ? storage.bits - 1 : storage.bits)) - 1;
    expect(low < high && low >= least && high <= most, "expects a quantized range inside of its storage type");
    for (uint64_t bits : type.reals) {
      double scale = llvm::bit_cast<double>(bits);
      expect(std::isfinite(scale) && scale > 0, "expects a quantization scale to be positive and finite");
    }
    if (type.code == quant::kPerAxis) {
      expect(type.reals.size() == type.numbers.size() - 4, "expects as many zero points as scales");
      expect(uint64_t(type.numbers[1]) <= std::numeric_limits<int32_t>::max(), "expects a quantized dimension of 32 bits");
    }
  }

  //===--- attributes ---===//

  void checkBuiltinAttribute(const Entry &attribute) {
    switch (attribute.code) {
    case builtin::kDictionary:
      return checkDictionary(attribute);
    case builtin::kFusedLoc:
    case builtin::kFusedLocWithMetadata:
      expect(attribute.references.size() > (attribute.code == builtin::kFusedLoc ? 0 : 1),
             "expects a fused location to have a part");
      return;
    case builtin::kFileLineColRange:
      expect(attribute.numbers.size() <= 4, "expects at most 4 lines and columns of a location, but got " +
             llvm::Twine(attribute.numbers.size()));
      return;
    case builtin::kDenseResource:
      return checkResource(attribute);
    case builtin::kDenseArray:
      return checkDenseArray(attribute);
    case builtin::kDenseElements:
      return checkDenseElements(attribute);
    case builtin::kDenseStrings:
      return checkDenseStrings(attribute);
    case builtin::kSparseElements:
      expect(false, "sparse elements are not accepted");
      return;
    default:
      return;
    }
  }

  void checkDictionary(const Entry &dictionary) {
    llvm::SmallSet<uint64_t, 8> names;
    for (size_t i = 0; i < dictionary.references.size(); i += 2) {
      const Entry &name = part(dictionary, i);
      if (!name.is("builtin", builtin::kString)) {
        expect(false, "expects the name of an attribute to be a string");
        return;
      }
      uint64_t string = name.numbers[0];
      expect(!artifact.strings[string].empty(), "expects an attribute to have a name");
      expect(names.insert(string).second, "attribute '" + artifact.strings[string] + "' is there twice");
    }
  }

  /// The element type and number of elements of a static tensor or vector of numbers.
  struct Elements {
    const Entry *element = nullptr;
    NumberType type;
    uint64_t count = 0;
  };
  Elements elementsOf(const Entry &shaped, bool isVhlo) {
    bool isTensor = isVhlo ? shaped.is("vhlo", vhlo::kTensor) || shaped.is("vhlo", vhlo::kTensorWithEncoding)
                           : shaped.is("builtin", builtin::kTensor) || shaped.is("builtin", builtin::kTensorWithEncoding) ||
                                 shaped.is("builtin", builtin::kVector);
    Elements result;
    if (!isTensor) {
      expect(false, "expects elements of a tensor or vector");
      return result;
    }
    result.element = &artifact.entry(shaped.references.back());
    result.type = numbers(*result.element);
    result.count = 1;
    for (int64_t size : shaped.numbers) {
      expect(size >= 0, "expects elements of a static shape");
      result.count = size < 0 ? 0 : llvm::SaturatingMultiply(result.count, static_cast<uint64_t>(size));
    }
    expect(result.count <= uint64_t(std::numeric_limits<int64_t>::max()), "a tensor has more than 2^63 elements");
    return result;
  }

  void checkDenseElements(const Entry &attribute) {
    Elements elements = elementsOf(part(attribute, 0), /*isVhlo=*/false);
    if (elements.type.kind == NumberType::None) {
      expect(false, "expects dense elements to be numbers");
      return;
    }
    uint64_t have = attribute.blob.size(), each = elements.type.storageBytes();
    bool fits;
    if (elements.type.bits == 1 && elements.type.kind == NumberType::Integer) {
      bool splat = have == 1 && (attribute.blob[0] == 0 || static_cast<uint8_t>(attribute.blob[0]) == 0xFF);
      fits = splat || have == llvm::divideCeil(elements.count, 8);
    } else {
      fits = each && (have == each || (have % each == 0 && have / each == elements.count));
    }
    expect(fits, llvm::Twine(have) + " bytes do not hold " + llvm::Twine(elements.count) + " elements of " +
           llvm::Twine(elements.type.bits) + " bits");
  }

  /// Accepts packed or unpacked booleans, a splat, or all elements.
  void checkVhloTensor(const Entry &attribute) {
    Elements elements = elementsOf(part(attribute, 0), /*isVhlo=*/true);
    if (!elements.element)
      return;
    const Entry &element = *elements.element;
    NumberType type = elements.type;
    if (element.is("vhlo", vhlo::kQuant) || element.is("vhlo", vhlo::kQuantPerAxis))
      type = numbers(part(element, 0));
    if (type.kind == NumberType::None) {
      expect(false, "expects the elements of a tensor attribute to be numbers");
      return;
    }
    uint64_t have = attribute.blob.size(), each = type.storageBytes();
    bool fits = have == each || (have % each == 0 && have / each == elements.count);
    if (type.bits == 1)
      fits |= have == llvm::divideCeil(elements.count, 8);
    expect(fits, llvm::Twine(have) + " bytes do not hold " + llvm::Twine(elements.count) + " elements of " +
           llvm::Twine(type.bits) + " bits");
  }

  void checkDenseArray(const Entry &attribute) {
    NumberType type = numbers(part(attribute, 0));
    bool isNumber = type.kind == NumberType::Integer || type.kind == NumberType::Float;
    if (!isNumber || (type.bits != 1 && type.bits % 8 != 0) || type.bits == 0) {
      expect(false, "expects an array of integers or floats of whole bytes");
      return;
    }
    uint64_t size = attribute.numbers[0], each = type.storageBytes(), have = attribute.blob.size();
    expect(have % each == 0 && have / each == size, llvm::Twine(have) + " bytes do not hold an array of " +
           llvm::Twine(size));
    if (type.bits == 1)
      for (char c : attribute.blob)
        expect(c == 0 || c == 1, "expects booleans to be 0 or 1");
  }

  void checkDenseStrings(const Entry &attribute) {
    Elements elements = elementsOf(part(attribute, 0), /*isVhlo=*/false);
    expect(elements.type.kind == NumberType::None, "expects numbers, but got strings");
    uint64_t have = attribute.numbers.size() - 1, want = attribute.numbers[0] ? 1 : elements.count;
    expect(have == want, "expects " + llvm::Twine(want) + " strings, but got " + llvm::Twine(have));
  }

  void checkResource(const Entry &attribute) {
    Elements elements = elementsOf(part(attribute, 0), /*isVhlo=*/false);
    const Resource &resource = artifact.resources[attribute.numbers[0]];
    expect(resource.dialect == "builtin" && resource.kind == Resource::Blob && !resource.declarationOnly,
           "expects a resource with data of dialect builtin");
    uint64_t each = elements.type.storageBytes();
    expect(each && resource.blobSize % each == 0 && resource.blobSize / each == elements.count, "a resource of " +
           llvm::Twine(resource.blobSize) + " bytes does not hold " + llvm::Twine(elements.count) + " elements of " +
           llvm::Twine(elements.type.bits) + " bits");
  }

  Reader file;
  const Artifact &artifact;
  const Entry *current = nullptr;
};

} // namespace

void checkEntries(Reader file, const Artifact &artifact) { RuleChecker(file, artifact).run(); }

} // namespace millrace::bytecode
