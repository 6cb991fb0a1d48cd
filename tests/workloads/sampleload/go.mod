// The load generator of the sample target: a program of its own, built with what Go brings.
module sampleload

go 1.19
