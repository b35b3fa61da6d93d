; The default floating-point environment: round to nearest, denormals kept, no traps, NaNs propagated.
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal i64 @fpenv_enter() nounwind {
  %saved = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  ret i64 %saved
}

define internal void @fpenv_leave(i64 %saved) nounwind {
  call void @llvm.aarch64.set.fpcr(i64 %saved)
  ret void
}

define internal void @relax() nounwind {
  call void asm sideeffect "yield", ""()
  ret void
}
