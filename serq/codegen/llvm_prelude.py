"""What every LLVM module begins and ends with: the intrinsics, and division that is defined for all operands."""

PRELUDE = """\
declare double @llvm.sqrt.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.fabs.f64(double)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

define internal i64 @floor_quotient.i64(i64 %a, i64 %b) alwaysinline nounwind {
  %b1 = add i64 %b, 1
  %odd = icmp ult i64 %b1, 2
  br i1 %odd, label %special, label %plain, !prof !0
special:
  %minus = sub i64 0, %a
  %down = icmp eq i64 %b, -1
  %s = select i1 %down, i64 %minus, i64 0
  ret i64 %s
plain:
  %q = sdiv i64 %a, %b
  %r = srem i64 %a, %b
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %apart = icmp slt i64 %signs, 0
  %under = and i1 %some, %apart
  %one = sext i1 %under to i64
  %floor = add i64 %q, %one
  ret i64 %floor
}

define internal i64 @floor_remainder.i64(i64 %a, i64 %b) alwaysinline nounwind {
  %b1 = add i64 %b, 1
  %odd = icmp ult i64 %b1, 2
  br i1 %odd, label %special, label %plain, !prof !0
special:
  ret i64 0
plain:
  %r = srem i64 %a, %b
  %some = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %apart = icmp slt i64 %signs, 0
  %under = and i1 %some, %apart
  %more = select i1 %under, i64 %b, i64 0
  %floor = add i64 %r, %more
  ret i64 %floor
}

define internal i64 @floor_quotient.u64(i64 %a, i64 %b) alwaysinline nounwind {
  %zero = icmp eq i64 %b, 0
  br i1 %zero, label %special, label %plain, !prof !0
special:
  ret i64 0
plain:
  %q = udiv i64 %a, %b
  ret i64 %q
}

define internal i64 @floor_remainder.u64(i64 %a, i64 %b) alwaysinline nounwind {
  %zero = icmp eq i64 %b, 0
  br i1 %zero, label %special, label %plain, !prof !0
special:
  ret i64 0
plain:
  %r = urem i64 %a, %b
  ret i64 %r
}
"""

METADATA = """\
!0 = !{!"branch_weights", i32 1, i32 1048576}
!1 = !{!"serq"}
!2 = !{}
"""
