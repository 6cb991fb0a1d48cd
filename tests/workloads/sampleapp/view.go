// SPDX-License-Identifier: MIT

package main

import (
	"reflect"
	"strconv"
	"strings"
)

// The view is made the way compiled functional programs make theirs: linked lists of boxed values,
// and functions that are called through reflection. That costs about 250 small allocations per
// element, like the applications that this one stands for.

// list is an immutable linked list of boxed values.
type list struct {
	head interface{}
	tail *list
}

func cons(head interface{}, tail *list) *list { return &list{head, tail} }

func numbers(from, to int) *list {
	var out *list
	for i := to - 1; i >= from; i-- {
		out = cons(i, out)
	}
	return out
}

// fold calls f, a function of an element and the result so far, for each element.
func fold(f interface{}, result interface{}, l *list) interface{} {
	call := reflect.ValueOf(f)
	for ; l != nil; l = l.tail {
		result = call.Call([]reflect.Value{reflect.ValueOf(l.head), reflect.ValueOf(result)})[0].Interface()
	}
	return result
}

func reverse(l *list) *list {
	return fold(func(x interface{}, out *list) *list { return cons(x, out) }, (*list)(nil), l).(*list)
}

// mapList calls f, a function of one element, for each element.
func mapList(f interface{}, l *list) *list {
	call := reflect.ValueOf(f)
	return reverse(fold(func(x interface{}, out *list) *list {
		return cons(call.Call([]reflect.Value{reflect.ValueOf(x)})[0].Interface(), out)
	}, (*list)(nil), l).(*list))
}

// node is one element of a page.
type node struct {
	tag      string
	id       string
	text     string
	children []*node
}

// termsPerElement is chosen for 250 allocations per element.
const termsPerElement = 20

// renderElement makes one row, which shows a sum that is as laborious as it can be.
func renderElement(element int) *node {
	terms := mapList(func(i int) int { return i * element }, numbers(1000, 1000+termsPerElement))
	sum := fold(func(i, so int) int { return i + so }, 0, terms).(int)
	return &node{tag: "li", id: "row-" + strconv.Itoa(element), text: strconv.Itoa(sum)}
}

// renderView makes a page of so many elements, and its HTML, which is what a server would send.
func renderView(elements, counter int) *node {
	root := &node{tag: "main", id: "root", children: []*node{
		{tag: "h1", id: "title", text: "count " + strconv.Itoa(counter)},
		{tag: "p", id: "note", text: strconv.Itoa(counter) + " events so far"},
	}}
	for l := mapList(renderElement, numbers(0, elements)); l != nil; l = l.tail {
		root.children = append(root.children, l.head.(*node))
	}
	_ = root.html()
	return root
}

func (n *node) html() string {
	var out strings.Builder
	n.write(&out)
	return out.String()
}

func (n *node) write(out *strings.Builder) {
	out.WriteString("<" + n.tag + ` id="` + n.id + `">` + n.text)
	for _, child := range n.children {
		child.write(out)
	}
	out.WriteString("</" + n.tag + ">")
}

// patch is one change to the page.
type patch struct {
	ID   string `json:"id"`
	Op   string `json:"op"`
	HTML string `json:"html"`
}

// diff appends what makes the old page into the new one.
func diff(before, after *node, out []patch) []patch {
	if before.id != after.id || len(before.children) != len(after.children) {
		return append(out, patch{after.id, "replace", after.html()})
	}
	if before.text != after.text {
		out = append(out, patch{after.id, "text", after.text})
	}
	for i := range after.children {
		out = diff(before.children[i], after.children[i], out)
	}
	return out
}
