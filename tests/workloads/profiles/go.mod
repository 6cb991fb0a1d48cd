module example.org/profiles

go 1.19
