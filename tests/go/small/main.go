// SPDX-License-Identifier: MIT

// A program of a few functions, some of them inlined, for what does not depend on a big one. With an
// argument it says so and waits until its input ends.
package main

import (
	"fmt"
	"io"
	"os"
)

func leaf(n int) int { return n*n + len(os.Args) }

func middle(n int) int { return leaf(n) + 1 }

//go:noinline
func outer(n int) int {
	return middle(n) + leaf(n+2)
}

func main() {
	fmt.Println(outer(len(os.Args)), foreign())
	if len(os.Args) > 1 {
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	}
}
