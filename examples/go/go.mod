module journal

go 1.19
