"""`python -m spanwright`: the command, where a module is wanted rather than a script, as by torchrun."""

from spanwright.cli.main import main

if __name__ == "__main__":
    main()
