"""The interface of every store engine: a record of roles, each with its value types in a file of its own.

Every method is one transaction unless it says otherwise, and what it returns is durable. A store object belongs to one
thread. All methods may raise `StoreUnreachable` or `DiskTrouble`; nothing is changed then.
"""
