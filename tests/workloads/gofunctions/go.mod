module gofunctions

go 1.19
