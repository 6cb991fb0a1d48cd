// SPDX-License-Identifier: MIT

// gostats knows what Go's runtime says of itself, and says it when it is asked. It must not know any observer.
//
// The protocol: it writes "ready PID", and then answers each line on its standard input with one line of JSON,
// until the end of the input. A line is one of
//
//	stats      what runtime.ReadMemStats says
//	times      what runtime/metrics says of the collector's CPU time, in ns
//	pauses     the sum of the times that the collector stopped the world, and how many there were by length
//	small N    allocate N objects of 48 bytes and keep them
//	tiny N     allocate N objects of 8 bytes without pointers and keep them
//	empty N    allocate N objects of no size
//	large N    allocate N objects of 100,000 bytes and keep them
//	gc N       run the collector N times
//	percent N  set GOGC
//	limit N    set GOMEMLIMIT
//	procs N    set GOMAXPROCS
//	park N     start N goroutines that wait for ever
//	load N     begin to allocate in N goroutines, as fast as it goes
//	rest 0     end that
//	work MS    allocate in as many goroutines as there are Ps for MS milliseconds; says how many rounds of it, and how long
//	exec 0     execute itself anew; that answers with "ready PID"
//
// Between two lines it waits in a read and allocates nothing, and neither does answering: what ReadMemStats says
// is what was true while it waited.
package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const keepMax = 1 << 18

var (
	small  = make([]*[48]byte, 0, keepMax)
	tiny   = make([]*uint64, 0, keepMax)
	large  = make([]*[100000]byte, 0, 1024)
	stats  runtime.MemStats
	answer = make([]byte, 0, 8192)
	line   = make([]byte, 0, 128)
	input  [128]byte

	// Time of the Ps in the collector, as of the last cycle; runtimes before Go 1.20 do not know it.
	times = []metrics.Sample{
		{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/cpu/classes/gc/pause:cpu-seconds"},
	}
	pauses    = []metrics.Sample{{Name: "/gc/pauses:seconds"}}
	timeNames = [4]string{"cpu_gc_mark_assist", "cpu_gc_mark_dedicated", "cpu_gc_mark_idle", "cpu_gc_pause"}

	sink    interface{}
	stop    int32
	loading sync.WaitGroup
	made    uint64 // rounds of allocate
	parked  sync.WaitGroup
)

// The main goroutine stays on the leading thread, where the test looks for its read.
func init() { runtime.LockOSThread() }

// next waits for a line, without allocating.
func next() bool {
	line = line[:0]
	for {
		n, err := syscall.Read(0, input[:1])
		if err == syscall.EINTR {
			continue
		}
		if n != 1 || err != nil || len(line) == cap(line) {
			return false
		}
		if input[0] == '\n' {
			return true
		}
		line = append(line, input[0])
	}
}

// words splits "verb N".
func words() (verb []byte, n int) {
	for i, c := range line {
		if c != ' ' {
			continue
		}
		sign := 1
		for _, d := range line[i+1:] {
			if d == '-' {
				sign = -1
			} else {
				n = n*10 + int(d-'0')
			}
		}
		return line[:i], sign * n
	}
	return line, 0
}

func field(name string, value uint64) {
	if len(answer) > 1 {
		answer = append(answer, ',')
	}
	answer = append(answer, '"')
	answer = append(answer, name...)
	answer = append(answer, '"', ':')
	answer = strconv.AppendUint(answer, value, 10)
}

func reply() {
	answer = append(answer, '}', '\n')
	for rest := answer; len(rest) > 0; {
		n, err := syscall.Write(1, rest)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			os.Exit(1)
		}
		rest = rest[n:]
	}
}

func tell() {
	runtime.ReadMemStats(&stats)
	field("mallocs", stats.Mallocs)
	field("frees", stats.Frees)
	field("total_alloc", stats.TotalAlloc)
	field("heap_alloc", stats.HeapAlloc)
	field("sys", stats.Sys)
	field("heap_inuse", stats.HeapInuse)
	field("heap_idle", stats.HeapIdle)
	field("heap_released", stats.HeapReleased)
	field("stack_sys", stats.StackSys)
	field("metadata", stats.MSpanSys+stats.MCacheSys+stats.BuckHashSys+stats.GCSys)
	field("other_sys", stats.OtherSys)
	field("next_gc", stats.NextGC)
	field("num_gc", uint64(stats.NumGC))
	field("num_forced_gc", uint64(stats.NumForcedGC))
	field("goroutines", uint64(runtime.NumGoroutine()))
	field("max_procs", uint64(runtime.GOMAXPROCS(0)))
}

// tellTimes is in ns. It allocates: it is no part of what is compared object by object.
func tellTimes() {
	metrics.Read(times)
	for i := range times {
		if times[i].Value.Kind() == metrics.KindFloat64 {
			field(timeNames[i], uint64(math.Round(times[i].Value.Float64()*1e9)))
		}
	}
}

// tellPauses names each length in ns by its bucket's lower bound; a pause is not shorter. It allocates, too.
func tellPauses() {
	runtime.ReadMemStats(&stats)
	metrics.Read(pauses)
	field("pause_total_ns", stats.PauseTotalNs)
	h := pauses[0].Value.Float64Histogram()
	for i, n := range h.Counts {
		if n > 0 {
			field("from_"+strconv.FormatInt(int64(math.Round(math.Max(h.Buckets[i], 0)*1e9)), 10), n)
		}
	}
}

// allocate makes objects of all sorts that live for a while.
func allocate(seed int) {
	var ring [512]interface{}
	i := seed
	for ; atomic.LoadInt32(&stop) == 0; i++ {
		switch i % 8 {
		case 0:
			ring[i%len(ring)] = new([48]byte)
		case 1:
			ring[i%len(ring)] = new(uint64)
		case 2:
			ring[i%len(ring)] = make([]*int, 1+i%300)
		case 3:
			ring[i%len(ring)] = make([]byte, 1+i%5000)
		case 4:
			if i%4096 == 4 {
				ring[i%len(ring)] = make([]byte, 100000)
			}
		default:
			ring[i%len(ring)] = &[2]interface{}{}
		}
	}
	atomic.AddUint64(&made, uint64(i-seed))
	loading.Done()
}

// work is load and rest, and says what was done.
func work(ms int) {
	procs := runtime.GOMAXPROCS(0)
	atomic.StoreUint64(&made, 0)
	atomic.StoreInt32(&stop, 0)
	loading.Add(procs)
	begin := time.Now()
	for i := 0; i < procs; i++ {
		go allocate(i)
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	atomic.StoreInt32(&stop, 1)
	loading.Wait()
	field("rounds", atomic.LoadUint64(&made))
	field("wall_ns", uint64(time.Since(begin)))
}

func do(verb []byte, n int) {
	switch string(verb) {
	case "stats":
		tell()
	case "times":
		tellTimes()
	case "pauses":
		tellPauses()
	case "small":
		for i := 0; i < n; i++ {
			small = append(small, new([48]byte))
		}
	case "tiny":
		for i := 0; i < n; i++ {
			tiny = append(tiny, new(uint64))
		}
	case "empty":
		for i := 0; i < n; i++ {
			sink = new(struct{})
		}
	case "large":
		for i := 0; i < n; i++ {
			large = append(large, new([100000]byte))
		}
	case "gc":
		for i := 0; i < n; i++ {
			runtime.GC()
		}
	case "percent":
		debug.SetGCPercent(n)
	case "limit":
		debug.SetMemoryLimit(int64(n))
	case "procs":
		runtime.GOMAXPROCS(n)
	case "park":
		parked.Add(n)
		for i := 0; i < n; i++ {
			go func() {
				parked.Done()
				select {}
			}()
		}
		parked.Wait()
	case "load":
		atomic.StoreInt32(&stop, 0)
		loading.Add(n)
		for i := 0; i < n; i++ {
			go allocate(i)
		}
	case "rest":
		atomic.StoreInt32(&stop, 1)
		loading.Wait()
	case "work":
		work(n)
	case "exec":
		if syscall.Exec(os.Args[0], os.Args, os.Environ()) != nil {
			os.Exit(1)
		}
	default:
		os.Exit(2)
	}
}

func main() {
	debug.SetGCPercent(-1)
	runtime.GC()
	ready := "ready " + strconv.Itoa(os.Getpid()) + "\n"
	if _, err := syscall.Write(1, []byte(ready)); err != nil {
		os.Exit(1)
	}
	for next() {
		answer = append(answer[:0], '{')
		do(words())
		reply()
	}
}
