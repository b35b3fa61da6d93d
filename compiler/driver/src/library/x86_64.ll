; The default floating-point environment, as runtime/src/fpenv.rs keeps it.
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal i64 @fpenv_enter() nounwind {
  %slot = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %slot)
  %old = load i32, ptr %slot
  store i32 8064, ptr %slot
  call void @llvm.x86.sse.ldmxcsr(ptr %slot)
  %saved = zext i32 %old to i64
  ret i64 %saved
}

define internal void @fpenv_leave(i64 %saved) nounwind {
  %slot = alloca i32
  %old = trunc i64 %saved to i32
  store i32 %old, ptr %slot
  call void @llvm.x86.sse.ldmxcsr(ptr %slot)
  ret void
}

define internal void @relax() nounwind {
  call void asm sideeffect "pause", ""()
  ret void
}
