; What runs a model's launches inside a library of its own: LLVM IR, so that no C compiler is needed.
;
; `runner.rs` fills in the names between braces and puts the model's tables before it. Nothing here is writable: a run keeps its state on
; the stack and in the caller's arena, a context in memory of its own. The threads work as those of runtime/src/pool.rs.

; Offset of the entry, first buffer, buffers, first size, extent, grain, offset of the first thread's scratch.
%launch = type { i64, i64, i64, i64, i64, i64, i64 }
; Number of the base (arena, weights, inputs, outputs) and offset from it.
%ref = type { i64, i64 }
; Alignment less one, and bytes.
%tensor = type { i64, i64 }
; arena, weights, spins, worker count, then the job: entry, buffers, sizes, extent, parts, scratch.
; `pending` and the workers have cache lines of their own, from byte 128.
%context = type { ptr, ptr, i64, i64, ptr, ptr, ptr, i64, i64, ptr, [6 x i64], i32, [31 x i32] }
; state, context, index, thread.
%worker = type { i32, i32, ptr, i64, i64, [12 x i64] }

declare i64 @syscall(i64, ...)
declare i64 @sysconf(i32)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)

; Checks the caller's tensors and enters them as bases 2 and on.
define internal i32 @bind(ptr %in, ptr %out, ptr %bases) nounwind {
entry:
  %no.in = icmp eq ptr %in, null
  %need.in = icmp ne i64 {inputs}, 0
  %bad.in = and i1 %no.in, %need.in
  %no.out = icmp eq ptr %out, null
  %need.out = icmp ne i64 {outputs}, 0
  %bad.out = and i1 %no.out, %need.out
  %bad = or i1 %bad.in, %bad.out
  br i1 %bad, label %null, label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %keep ]
  %done = icmp eq i64 %i, {tensors}
  br i1 %done, label %good, label %body
body:
  %input = icmp ult i64 %i, {inputs}
  %j = sub i64 %i, {inputs}
  %at.in = getelementptr ptr, ptr %in, i64 %i
  %at.out = getelementptr ptr, ptr %out, i64 %j
  %at = select i1 %input, ptr %at.in, ptr %at.out
  %p = load ptr, ptr %at
  %t = getelementptr %tensor, ptr @tensors, i64 %i
  %mask = load i64, ptr %t
  %t.bytes = getelementptr %tensor, ptr %t, i64 0, i32 1
  %bytes = load i64, ptr %t.bytes
  %no.p = icmp eq ptr %p, null
  %some = icmp ne i64 %bytes, 0
  %bad.p = and i1 %no.p, %some
  br i1 %bad.p, label %null, label %align
align:
  %n = ptrtoint ptr %p to i64
  %low = and i64 %n, %mask
  %skew = icmp ne i64 %low, 0
  br i1 %skew, label %unaligned, label %keep
keep:
  %slot.i = add i64 %i, 2
  %slot = getelementptr ptr, ptr %bases, i64 %slot.i
  store ptr %p, ptr %slot
  %next = add i64 %i, 1
  br label %head
good:
  ret i32 0
null:
  ret i32 1
unaligned:
  ret i32 2
}

; Runs all launches in order; `context` is null for a run on the caller's thread alone.
define internal void @execute(ptr %bases, ptr %context) nounwind {
entry:
  %buffers = alloca [{max_buffers} x ptr], align 16
  %arena = load ptr, ptr %bases
  %alone = icmp eq ptr %context, null
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %ran ]
  %done = icmp eq i64 %i, {launches}
  br i1 %done, label %exit, label %body
body:
  %l = getelementptr %launch, ptr @launches, i64 %i
  %at = load i64, ptr %l
  %l.first = getelementptr %launch, ptr %l, i64 0, i32 1
  %first = load i64, ptr %l.first
  %l.count = getelementptr %launch, ptr %l, i64 0, i32 2
  %count = load i64, ptr %l.count
  %l.dim = getelementptr %launch, ptr %l, i64 0, i32 3
  %dim = load i64, ptr %l.dim
  %l.extent = getelementptr %launch, ptr %l, i64 0, i32 4
  %extent = load i64, ptr %l.extent
  %l.grain = getelementptr %launch, ptr %l, i64 0, i32 5
  %grain = load i64, ptr %l.grain
  %l.scratch = getelementptr %launch, ptr %l, i64 0, i32 6
  %scratch.at = load i64, ptr %l.scratch
  %entry.p = getelementptr i8, ptr @neap.kernels, i64 %at
  %dims.p = getelementptr i64, ptr @dims, i64 %dim
  %scratch = getelementptr i8, ptr %arena, i64 %scratch.at
  br label %fill
fill:
  %j = phi i64 [ 0, %body ], [ %j.next, %enter ]
  %filled = icmp eq i64 %j, %count
  br i1 %filled, label %run, label %enter
enter:
  %r.i = add i64 %first, %j
  %r = getelementptr %ref, ptr @refs, i64 %r.i
  %r.base = load i64, ptr %r
  %r.off = getelementptr %ref, ptr %r, i64 0, i32 1
  %off = load i64, ptr %r.off
  %base.at = getelementptr ptr, ptr %bases, i64 %r.base
  %base = load ptr, ptr %base.at
  %p = getelementptr i8, ptr %base, i64 %off
  %slot = getelementptr ptr, ptr %buffers, i64 %j
  store ptr %p, ptr %slot
  %j.next = add i64 %j, 1
  br label %fill
run:
  %nothing = icmp eq i64 %extent, 0
  br i1 %nothing, label %ran, label %some
some:
  br i1 %alone, label %one, label %share
share:
  %worth = udiv i64 %extent, %grain
  %least = call i64 @llvm.umax.i64(i64 %worth, i64 1)
  %c.workers = getelementptr %context, ptr %context, i64 0, i32 3
  %workers = load i64, ptr %c.workers
  %threads = add i64 %workers, 1
  %parts = call i64 @llvm.umin.i64(i64 %least, i64 %threads)
  %single = icmp eq i64 %parts, 1
  br i1 %single, label %one, label %many
one:
  call void %entry.p(ptr %buffers, ptr %dims.p, i64 0, i64 %extent, ptr %scratch)
  br label %ran
many:
  %c.entry = getelementptr %context, ptr %context, i64 0, i32 4
  store ptr %entry.p, ptr %c.entry
  %c.buffers = getelementptr %context, ptr %context, i64 0, i32 5
  store ptr %buffers, ptr %c.buffers
  %c.dims = getelementptr %context, ptr %context, i64 0, i32 6
  store ptr %dims.p, ptr %c.dims
  %c.extent = getelementptr %context, ptr %context, i64 0, i32 7
  store i64 %extent, ptr %c.extent
  %c.parts = getelementptr %context, ptr %context, i64 0, i32 8
  store i64 %parts, ptr %c.parts
  %c.scratch = getelementptr %context, ptr %context, i64 0, i32 9
  store ptr %scratch, ptr %c.scratch
  call void @hand_out(ptr %context, i64 %parts)
  call void @slice(ptr %context, i64 0)
  call void @join(ptr %context)
  br label %ran
ran:
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}

; Runs a thread's slice of the job; slices differ by at most one unit.
define internal void @slice(ptr %context, i64 %index) nounwind {
  %c.entry = getelementptr %context, ptr %context, i64 0, i32 4
  %entry = load ptr, ptr %c.entry
  %c.buffers = getelementptr %context, ptr %context, i64 0, i32 5
  %buffers = load ptr, ptr %c.buffers
  %c.dims = getelementptr %context, ptr %context, i64 0, i32 6
  %dims = load ptr, ptr %c.dims
  %c.extent = getelementptr %context, ptr %context, i64 0, i32 7
  %extent = load i64, ptr %c.extent
  %c.parts = getelementptr %context, ptr %context, i64 0, i32 8
  %parts = load i64, ptr %c.parts
  %c.scratch = getelementptr %context, ptr %context, i64 0, i32 9
  %own = load ptr, ptr %c.scratch
  %each = udiv i64 %extent, %parts
  %more = urem i64 %extent, %parts
  %whole = mul i64 %each, %index
  %extra = call i64 @llvm.umin.i64(i64 %index, i64 %more)
  %begin = add i64 %whole, %extra
  %longer = icmp ult i64 %index, %more
  %one = zext i1 %longer to i64
  %length = add i64 %each, %one
  %end = add i64 %begin, %length
  ; The first thread's scratch lies in free bytes of the arena, those of the others after it.
  %arena = load ptr, ptr %context
  %after = sub i64 %index, 1
  %far = mul i64 %after, {scratch}
  %past = add i64 %far, {arena}
  %beyond = getelementptr i8, ptr %arena, i64 %past
  %caller = icmp eq i64 %index, 0
  %scratch = select i1 %caller, ptr %own, ptr %beyond
  call void %entry(ptr %buffers, ptr %dims, i64 %begin, i64 %end, ptr %scratch)
  ret void
}

define internal ptr @worker(ptr %context, i64 %index) nounwind {
  %after = sub i64 %index, 1
  %first = getelementptr %context, ptr %context, i64 1
  %w = getelementptr %worker, ptr %first, i64 %after
  ret ptr %w
}

; A worker is 0 idle, 1 at work, 2 asleep, 3 to stop.
define internal void @hand_out(ptr %context, i64 %parts) nounwind {
entry:
  %helpers = sub i64 %parts, 1
  %count = trunc i64 %helpers to i32
  %pending = getelementptr %context, ptr %context, i64 0, i32 11
  store atomic i32 %count, ptr %pending monotonic, align 4
  br label %head
head:
  %i = phi i64 [ 1, %entry ], [ %next, %woken ]
  %done = icmp eq i64 %i, %parts
  br i1 %done, label %exit, label %body
body:
  %w = call ptr @worker(ptr %context, i64 %i)
  %was = atomicrmw xchg ptr %w, i32 1 acq_rel
  %asleep = icmp eq i32 %was, 2
  br i1 %asleep, label %wake, label %woken
wake:
  call void @wake(ptr %w)
  br label %woken
woken:
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}

define internal void @wake(ptr %word) nounwind {
  %r = call i64 (i64, ...) @syscall(i64 {futex}, ptr %word, i64 129, i64 1)
  ret void
}

define internal void @wait(ptr %word, i32 %value) nounwind {
  %v = zext i32 %value to i64
  %r = call i64 (i64, ...) @syscall(i64 {futex}, ptr %word, i64 128, i64 %v, ptr null)
  ret void
}

; Waits until every worker has given its share back; the top bit of `pending` says that the caller sleeps.
define internal void @join(ptr %context) nounwind {
entry:
  %pending = getelementptr %context, ptr %context, i64 0, i32 11
  %c.spins = getelementptr %context, ptr %context, i64 0, i32 2
  %spins = load i64, ptr %c.spins
  br label %spin
spin:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %left = load atomic i32, ptr %pending acquire, align 4
  %none = icmp eq i32 %left, 0
  br i1 %none, label %exit, label %more
more:
  %over = icmp uge i64 %i, %spins
  br i1 %over, label %sleep, label %again
again:
  call void @relax()
  %next = add i64 %i, 1
  br label %spin
sleep:
  %before = atomicrmw or ptr %pending, i32 -2147483648 acq_rel
  %first = or i32 %before, -2147483648
  br label %check
check:
  %now = phi i32 [ %first, %sleep ], [ %later, %doze ]
  %all = icmp eq i32 %now, -2147483648
  br i1 %all, label %exit, label %doze
doze:
  call void @wait(ptr %pending, i32 %now)
  %later = load atomic i32, ptr %pending acquire, align 4
  br label %check
exit:
  ret void
}

; A worker's life.
define internal ptr @work(ptr %w) nounwind {
entry:
  %env = call i64 @fpenv_enter()
  %w.context = getelementptr %worker, ptr %w, i64 0, i32 2
  %context = load ptr, ptr %w.context
  %w.index = getelementptr %worker, ptr %w, i64 0, i32 3
  %index = load i64, ptr %w.index
  %c.spins = getelementptr %context, ptr %context, i64 0, i32 2
  %spins = load i64, ptr %c.spins
  %pending = getelementptr %context, ptr %context, i64 0, i32 11
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ 0, %finished ], [ 0, %sleep ], [ %next, %spin ], [ %i, %doze ]
  %state = load atomic i32, ptr %w acquire, align 4
  switch i32 %state, label %idle [ i32 1, label %job
                                   i32 2, label %sleep
                                   i32 3, label %stop ]
idle:
  %over = icmp uge i64 %i, %spins
  br i1 %over, label %doze, label %spin
spin:
  call void @relax()
  %next = add i64 %i, 1
  br label %turn
doze:
  ; Lost only to new work or the end, which the next turn sees.
  %swap = cmpxchg ptr %w, i32 0, i32 2 acq_rel acquire
  br label %turn
sleep:
  call void @wait(ptr %w, i32 2)
  br label %turn
job:
  store atomic i32 0, ptr %w monotonic, align 4
  call void @slice(ptr %context, i64 %index)
  %before = atomicrmw sub ptr %pending, i32 1 acq_rel
  %last = icmp eq i32 %before, -2147483647
  br i1 %last, label %tell, label %finished
tell:
  call void @wake(ptr %pending)
  br label %finished
finished:
  br label %turn
stop:
  ret ptr null
}

define i32 @{name}_run(ptr %in, ptr %out, ptr %arena{weights_parameter}) nounwind {
entry:
  %bases = alloca [{bases} x ptr], align 16
  %no.arena = icmp eq ptr %arena, null
  %need = icmp ne i64 {arena}, 0
  %bad.arena = and i1 %no.arena, %need
  %no.weights = icmp eq ptr {weights_value}, null
  %bad = or i1 %bad.arena, %no.weights
  br i1 %bad, label %null, label %aligned
aligned:
  %n = ptrtoint ptr %arena to i64
  %w.n = ptrtoint ptr {weights_value} to i64
  %both = or i64 %n, %w.n
  %low = and i64 %both, 63
  %skew = icmp ne i64 %low, 0
  br i1 %skew, label %unaligned, label %tensors
tensors:
  %code = call i32 @bind(ptr %in, ptr %out, ptr %bases)
  %good = icmp eq i32 %code, 0
  br i1 %good, label %go, label %exit
go:
  store ptr %arena, ptr %bases
  %second = getelementptr ptr, ptr %bases, i64 1
  store ptr {weights_value}, ptr %second
  %env = call i64 @fpenv_enter()
  call void @execute(ptr %bases, ptr null)
  call void @fpenv_leave(i64 %env)
  br label %exit
exit:
  ret i32 %code
null:
  ret i32 1
unaligned:
  ret i32 2
}

define ptr @{name}_create(i32 %asked{weights_parameter}) nounwind {
entry:
  %no.weights = icmp eq ptr {weights_value}, null
  %w.n = ptrtoint ptr {weights_value} to i64
  %w.low = and i64 %w.n, 63
  %skew = icmp ne i64 %w.low, 0
  %bad = or i1 %no.weights, %skew
  br i1 %bad, label %fail, label %start
start:
  %cores = call i64 @sysconf(i32 84)
  %some.cores = call i64 @llvm.umax.i64(i64 %cores, i64 1)
  %any = icmp eq i32 %asked, 0
  %asked.64 = zext i32 %asked to i64
  %wanted = select i1 %any, i64 %some.cores, i64 %asked.64
  %threads = call i64 @llvm.umin.i64(i64 %wanted, i64 1024)
  %workers = sub i64 %threads, 1
  %lines = mul i64 %workers, 128
  %size = add i64 %lines, 256
  %context = call ptr @aligned_alloc(i64 128, i64 %size)
  %no.context = icmp eq ptr %context, null
  br i1 %no.context, label %fail, label %arena
arena:
  %extra = mul i64 %workers, {scratch}
  %bytes = add i64 %extra, {arena}
  %least = call i64 @llvm.umax.i64(i64 %bytes, i64 64)
  %memory = call ptr @aligned_alloc(i64 64, i64 %least)
  %no.memory = icmp eq ptr %memory, null
  br i1 %no.memory, label %drop, label %fill
fill:
  store ptr %memory, ptr %context
  %c.weights = getelementptr %context, ptr %context, i64 0, i32 1
  store ptr {weights_value}, ptr %c.weights
  ; With more threads than cores, spinning would only keep the one that has work from running.
  %crowded = icmp ugt i64 %threads, %some.cores
  %spins = select i1 %crowded, i64 0, i64 4000
  %c.spins = getelementptr %context, ptr %context, i64 0, i32 2
  store i64 %spins, ptr %c.spins
  %c.workers = getelementptr %context, ptr %context, i64 0, i32 3
  store i64 0, ptr %c.workers
  %pending = getelementptr %context, ptr %context, i64 0, i32 11
  store i32 0, ptr %pending
  br label %head
head:
  %i = phi i64 [ 1, %fill ], [ %next, %made ]
  %done = icmp eq i64 %i, %threads
  br i1 %done, label %exit, label %make
make:
  %w = call ptr @worker(ptr %context, i64 %i)
  store i32 0, ptr %w
  %w.context = getelementptr %worker, ptr %w, i64 0, i32 2
  store ptr %context, ptr %w.context
  %w.index = getelementptr %worker, ptr %w, i64 0, i32 3
  store i64 %i, ptr %w.index
  %w.thread = getelementptr %worker, ptr %w, i64 0, i32 4
  %code = call i32 @pthread_create(ptr %w.thread, ptr null, ptr @work, ptr %w)
  %refused = icmp ne i32 %code, 0
  br i1 %refused, label %undo, label %made
made:
  store i64 %i, ptr %c.workers
  %next = add i64 %i, 1
  br label %head
exit:
  ret ptr %context
undo:
  call void @{name}_destroy(ptr %context)
  br label %fail
drop:
  call void @free(ptr %context)
  br label %fail
fail:
  ret ptr null
}

define i32 @{name}_run_mt(ptr %context, ptr %in, ptr %out) nounwind {
entry:
  %bases = alloca [{bases} x ptr], align 16
  %none = icmp eq ptr %context, null
  br i1 %none, label %null, label %tensors
tensors:
  %code = call i32 @bind(ptr %in, ptr %out, ptr %bases)
  %good = icmp eq i32 %code, 0
  br i1 %good, label %go, label %exit
go:
  %arena = load ptr, ptr %context
  store ptr %arena, ptr %bases
  %c.weights = getelementptr %context, ptr %context, i64 0, i32 1
  %weights = load ptr, ptr %c.weights
  %second = getelementptr ptr, ptr %bases, i64 1
  store ptr %weights, ptr %second
  %env = call i64 @fpenv_enter()
  call void @execute(ptr %bases, ptr %context)
  call void @fpenv_leave(i64 %env)
  br label %exit
exit:
  ret i32 %code
null:
  ret i32 1
}

define void @{name}_destroy(ptr %context) nounwind {
entry:
  %none = icmp eq ptr %context, null
  br i1 %none, label %exit, label %begin
begin:
  %c.workers = getelementptr %context, ptr %context, i64 0, i32 3
  %workers = load i64, ptr %c.workers
  br label %head
head:
  %i = phi i64 [ 1, %begin ], [ %next, %body ]
  %done = icmp ugt i64 %i, %workers
  br i1 %done, label %free, label %body
body:
  %w = call ptr @worker(ptr %context, i64 %i)
  store atomic i32 3, ptr %w release, align 4
  call void @wake(ptr %w)
  %w.thread = getelementptr %worker, ptr %w, i64 0, i32 4
  %thread = load i64, ptr %w.thread
  %code = call i32 @pthread_join(i64 %thread, ptr null)
  %next = add i64 %i, 1
  br label %head
free:
  %arena = load ptr, ptr %context
  call void @free(ptr %arena)
  call void @free(ptr %context)
  br label %exit
exit:
  ret void
}
