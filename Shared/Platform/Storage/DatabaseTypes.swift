public import Clocks
public import GRDB

// The words of SQL that stores need, under their GRDB names, so that a store imports only this module. (`GRDB.Configuration` would clash
// with the catalogue's.)
public typealias Database = GRDB.Database
public typealias DatabaseError = GRDB.DatabaseError
public typealias DatabaseValue = GRDB.DatabaseValue
public typealias DatabaseValueConvertible = GRDB.DatabaseValueConvertible
public typealias Row = GRDB.Row
public typealias SQLiteStatement = GRDB.SQLiteStatement
public typealias StatementArguments = GRDB.StatementArguments
public typealias StatementColumnConvertible = GRDB.StatementColumnConvertible

/// Stored as an integer: milliseconds since 1970, so that `expires_at_ms <= :now` compares numbers.
extension Timestamp: GRDB.DatabaseValueConvertible, GRDB.StatementColumnConvertible {
    public var databaseValue: GRDB.DatabaseValue { milliseconds.databaseValue }

    public static func fromDatabaseValue(_ databaseValue: GRDB.DatabaseValue) -> Timestamp? {
        Int64.fromDatabaseValue(databaseValue).map(Timestamp.init(milliseconds:))
    }

    public init(sqliteStatement: GRDB.SQLiteStatement, index: CInt) {
        self.init(milliseconds: Int64(sqliteStatement: sqliteStatement, index: index))
    }
}
