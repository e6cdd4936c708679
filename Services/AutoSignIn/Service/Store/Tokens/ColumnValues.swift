internal import Foundation
package import Identifiers
package import Storage

extension Identifier: DatabaseValueConvertible, StatementColumnConvertible {
    package init(sqliteStatement: SQLiteStatement, index: CInt) { self.init(String(sqliteStatement: sqliteStatement, index: index)) }

    package var databaseValue: DatabaseValue { text.databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> Identifier? { String.fromDatabaseValue(value).map(Identifier.init) }
}

extension Digest: DatabaseValueConvertible, StatementColumnConvertible {
    package init(sqliteStatement: SQLiteStatement, index: CInt) { self.init(bytes: [UInt8](Data(sqliteStatement: sqliteStatement, index: index))) }

    package var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    package static func fromDatabaseValue(_ value: DatabaseValue) -> Digest? {
        Data.fromDatabaseValue(value).map { Digest(bytes: [UInt8]($0)) }
    }
}

extension SealedBytes: DatabaseValueConvertible, StatementColumnConvertible {
    init(sqliteStatement: SQLiteStatement, index: CInt) { self.init(bytes: [UInt8](Data(sqliteStatement: sqliteStatement, index: index))) }

    var databaseValue: DatabaseValue { Data(bytes).databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> SealedBytes? {
        Data.fromDatabaseValue(value).map { SealedBytes(bytes: [UInt8]($0)) }
    }
}
