; Maps the file of weights, whose last 32 bytes say which library they belong to.
declare i32 @open(ptr, i32, ...)
declare i32 @close(i32)
declare i64 @lseek(i32, i64, i32)
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @memcmp(ptr, ptr, i64)

define ptr @{name}_weights_open(ptr %path) nounwind {
entry:
  %none = icmp eq ptr %path, null
  br i1 %none, label %fail, label %start
start:
  %fd = call i32 (ptr, i32, ...) @open(ptr %path, i32 524288)
  %no = icmp slt i32 %fd, 0
  br i1 %no, label %fail, label %size
size:
  %n = call i64 @lseek(i32 %fd, i64 0, i32 2)
  %fits = icmp eq i64 %n, {file_bytes}
  br i1 %fits, label %map, label %wrong
wrong:
  %c1 = call i32 @close(i32 %fd)
  br label %fail
map:
  %p = call ptr @mmap(ptr null, i64 {file_bytes}, i32 1, i32 2, i32 %fd, i64 0)
  %c2 = call i32 @close(i32 %fd)
  %n.p = ptrtoint ptr %p to i64
  %bad = icmp eq i64 %n.p, -1
  br i1 %bad, label %fail, label %check
check:
  %tail = getelementptr i8, ptr %p, i64 {weight_bytes}
  %order = call i32 @memcmp(ptr %tail, ptr @digest, i64 32)
  %same = icmp eq i32 %order, 0
  br i1 %same, label %exit, label %foreign
foreign:
  %c3 = call i32 @munmap(ptr %p, i64 {file_bytes})
  br label %fail
exit:
  ret ptr %p
fail:
  ret ptr null
}

define void @{name}_weights_close(ptr %p) nounwind {
entry:
  %none = icmp eq ptr %p, null
  br i1 %none, label %exit, label %go
go:
  %c = call i32 @munmap(ptr %p, i64 {file_bytes})
  br label %exit
exit:
  ret void
}
