// SPDX-License-Identifier: MIT

// profiles FOLDER: writes a profile of each kind there: cpu, heap, block, mutex, goroutine (.pb.gz), of work with labels,
// inlined calls and a recursion that is deeper than stacks are kept. Prints the recursion's depth and its parked
// goroutines as JSON.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	depth  = 200 // of the recursion: more than any version keeps
	parked = 7
	cpu    = 700 * time.Millisecond
)

var (
	kept [][]byte
	sink [32]byte
)

func small(x byte) byte { return x*3 + 1 } // inlined

func hash(n int) {
	block := make([]byte, 4096)
	for i := 0; i < n; i++ {
		block[i%len(block)] = small(block[i%len(block)])
		sink = sha256.Sum256(block)
	}
}

//go:noinline
func deep(n int, work func()) {
	if n == 0 {
		work()
		return
	}
	deep(n-1, work)
	runtime.KeepAlive(n)
}

func spin(until time.Time) {
	for time.Now().Before(until) {
		hash(20)
		text := strings.Repeat("a b c ", 200)
		words := strings.Fields(text)
		sort.Strings(words)
		var buffer bytes.Buffer
		fmt.Fprintf(&buffer, "%d", len(words))
	}
}

func spend() {
	pprof.Do(context.Background(), pprof.Labels("kind", "shallow", "route", "/_sky/event"), func(context.Context) {
		spin(time.Now().Add(cpu / 2))
	})
	deep(depth, func() { spin(time.Now().Add(cpu / 2)) })
}

func allocate() {
	for i := 0; i < 2000; i++ {
		kept = append(kept, make([]byte, 64+i%5*1000))
	}
	deep(depth, func() {
		for i := 0; i < 200; i++ {
			kept = append(kept, make([]byte, 10000))
		}
	})
}

func contend() {
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for k := 0; k < 20; k++ {
				lock.Lock()
				time.Sleep(time.Millisecond)
				lock.Unlock()
			}
		}()
	}
	all.Wait()
}

func create(name string) *os.File {
	file, err := os.Create(filepath.Join(os.Args[1], name+".pb.gz"))
	check(err)
	return file
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "profiles:", err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: profiles FOLDER")
		os.Exit(64)
	}
	runtime.MemProfileRate = 4096
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)

	file := create("cpu")
	check(pprof.StartCPUProfile(file))
	spend()
	pprof.StopCPUProfile()
	check(file.Close())

	allocate()
	contend()
	never := make(chan int)
	for i := 0; i < parked; i++ {
		labels := pprof.Labels("parked", fmt.Sprint(i%2))
		go pprof.Do(context.Background(), labels, func(context.Context) { deep(depth/10, func() { <-never }) })
	}
	runtime.GC()
	for _, name := range []string{"heap", "allocs", "block", "mutex", "goroutine"} {
		file := create(name)
		check(pprof.Lookup(name).WriteTo(file, 0))
		check(file.Close())
	}
	fmt.Printf("{\"depth\": %d, \"parked\": %d}\n", depth, parked)
	runtime.KeepAlive(never)
}
