"""What a store promises, whatever its engine: a record of roles, each with its value types in its own file.

Every method is one transaction unless it says otherwise, and what it returns is durable. A store object belongs to one
thread. All methods may raise `StoreUnreachable` or `DiskTrouble`; nothing is changed then.
"""
