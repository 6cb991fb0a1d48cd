// SPDX-License-Identifier: MIT

// gochurn does what a Go program does to its stacks and to its collector, all at once: recursion that makes stacks
// grow and the collector shrink them, goroutines that come and go, objects that live for a while, on more Ps than
// there may be CPUs. A probe that touches a return address does not survive it. It must not know any observer.
//
// The protocol: it writes "ready PID" and waits for a line, "SECONDS"; works for as long, and writes one line of
// JSON; then it waits for the end of its input. Status 0 means that every sum came out right.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	nrPs     = 4
	keepMax  = 1 << 12
	maxDepth = 1200
)

var growths, goroutines uint64

// dig uses some 200 bytes of the stack for each level, and looks whether they are still the same on the way back.
//
//go:noinline
func dig(depth int, seed uint64) uint64 {
	var room [24]uint64
	room[depth%len(room)] = seed
	if depth == 0 {
		return seed
	}
	below := dig(depth-1, seed)
	if room[depth%len(room)] != seed {
		panic("a stack was damaged")
	}
	return below + 1
}

// fresh begins on a new stack, which grows several times.
func fresh(depth int, seed uint64, done *sync.WaitGroup) {
	if dig(depth, seed) != seed+uint64(depth) {
		panic("a sum was wrong")
	}
	atomic.AddUint64(&growths, 1)
	done.Done()
}

func churn(seed uint64, until time.Time) {
	kept := make([][]byte, keepMax)
	for i := seed; time.Now().Before(until); i++ {
		var done sync.WaitGroup
		for k := uint64(0); k < 8; k++ {
			done.Add(1)
			go fresh(int((i*7+k*131)%maxDepth), i, &done)
		}
		for k := 0; k < 200; k++ {
			kept[(int(i)*200+k)%keepMax] = make([]byte, 16+(int(i)+k)%2000)
		}
		done.Wait()
		atomic.AddUint64(&goroutines, 8)
	}
}

func work(seconds float64) {
	var all sync.WaitGroup
	until := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for i := 0; i < nrPs; i++ {
		all.Add(1)
		go func(i int) {
			churn(uint64(i)<<32, until)
			all.Done()
		}(i)
	}
	all.Wait()
}

func main() {
	var stats runtime.MemStats
	runtime.GOMAXPROCS(nrPs)
	debug.SetGCPercent(20)
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("ready %d\n", os.Getpid())
	line, err := input.ReadString('\n')
	seconds, wrong := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil || wrong != nil {
		os.Exit(2)
	}
	runtime.ReadMemStats(&stats)
	begin := stats
	work(seconds)
	runtime.GC()
	debug.SetGCPercent(-1)
	runtime.ReadMemStats(&stats)
	fmt.Printf("{\"growths\":%d,\"goroutines\":%d,\"cycles\":%d,\"pause_ns\":%d,\"mallocs\":%d}\n", growths, goroutines,
		stats.NumGC-begin.NumGC, stats.PauseTotalNs-begin.PauseTotalNs, stats.Mallocs-begin.Mallocs)
	_, _ = input.ReadString('\n')
}
