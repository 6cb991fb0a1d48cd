// SPDX-License-Identifier: MIT

// profiled [-cpu D] [-threads N] [-depth N] [-reads N] [-garbage] FILE: says "ready", and for the word "go" on its standard input
// takes a CPU profile of itself to FILE while its threads spend so much CPU time, a part of it in reads of /dev/zero.
// It is idle for a while after the profile has begun, and before it ends, so that what is read of it a little late is
// what was true. Prints what it spent as JSON, and waits for the end of its input.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

const idle = 500 * time.Millisecond

var (
	spend   = flag.Duration("cpu", 8*time.Second, "CPU time of all threads")
	threads = flag.Int("threads", 4, "threads that spend it")
	depth   = flag.Int("depth", 0, "calls below which they do")
	reads   = flag.Int("reads", 1, "reads in each round")
	garbage = flag.Bool("garbage", false, "allocate, beside a heap that the collector has to walk")
	sink    uint64
	kept    *node
	lists   []*node
	mutex   sync.Mutex
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(1)
	}
}

func cpu() time.Duration {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

type node struct {
	next *node
	pad  [6]uintptr
}

// list makes n nodes, each of which leads to the next one.
func list(n int) (first *node) {
	for ; n > 0; n-- {
		first = &node{next: first}
	}
	return first
}

func spin(n int) uint64 {
	x := uint64(n) | 1
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func deep(n int, work func()) {
	if n > 0 {
		deep(n-1, work)
		runtime.KeepAlive(n)
		return
	}
	work()
}

func work(until time.Duration, zero int) {
	buffer := make([]byte, 262144)
	for cpu() < until {
		x := spin(800000)
		for i := 0; i < *reads; i++ {
			_, err := syscall.Read(zero, buffer)
			check(err)
		}
		mutex.Lock()
		sink += x
		if *garbage {
			kept.next = list(20000)
		}
		mutex.Unlock()
	}
}

func profile(path string) {
	zero, err := syscall.Open("/dev/zero", syscall.O_RDONLY, 0)
	check(err)
	file, err := os.Create(path)
	check(err)
	if *garbage {
		kept = &node{}
		for i := range kept.pad {
			lists = append(lists, list(20000+i))
		}
	}
	until := cpu() + *spend
	check(pprof.StartCPUProfile(file))
	time.Sleep(idle)
	var all sync.WaitGroup
	for i := 0; i < *threads; i++ {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			deep(*depth, func() { work(until, zero) })
			runtime.UnlockOSThread()
			all.Done()
		}()
	}
	all.Wait()
	time.Sleep(idle)
	pprof.StopCPUProfile()
	check(file.Close())
}

func main() {
	flag.Parse()
	input := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for input.Scan() {
		if input.Text() == "go" {
			begin := cpu()
			profile(flag.Arg(0))
			fmt.Printf("{\"cpu_seconds\": %.3f, \"go\": %q}\n", (cpu() - begin).Seconds(), runtime.Version())
		}
	}
}
