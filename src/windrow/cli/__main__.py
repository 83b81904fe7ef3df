from windrow.cli import main

main()
