# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Of a program in generic form: every operation of StableHLO with its sharding rule, or none.
/^ *(%[^=]*= )?"(stablehlo|chlo)\./ {
  match($0, /"(stablehlo|chlo)\.[a-z_0-9]*"/); name = substr($0, RSTART + 1, RLENGTH - 2)
  if ($0 ~ /[(][{]$/) { stack[++depth] = name; name = "" }
}
/^ *}, [{]$/ { next }
/^ *}[)]/ { name = depth ? stack[depth--] : "" }
name != "" && name != "stablehlo.return" {
  rule = "none"
  if (match($0, /op_sharding_rule<.*>}? ?[,}]/)) { rule = substr($0, RSTART + 17, RLENGTH - 17); sub(/>[,}].*/, "", rule) }
  print name " " rule
}
{ name = "" }
