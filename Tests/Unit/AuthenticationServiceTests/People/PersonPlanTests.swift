import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// No look-up of a person reads a whole table, however many sessions there are.
struct PersonPlanTests {
    private func plan(_ store: Store, _ sql: String, _ arguments: Arguments) async throws -> [String] {
        try await store.read { database in
            try database.all(Statement("EXPLAIN QUERY PLAN " + sql), arguments) { columns -> String in
                _ = (columns.next() as Int, columns.next() as Int, columns.next() as Int)
                return columns.next()
            }
        }
    }

    @Test("each statement by which a person is found stands on an index", arguments: PersonStatements.all)
    func findsByIndex(_ sql: String) async throws {
        let store = try Backend.database(Folder.shared.newFile())
        let values = Arguments((0..<sql.count { $0 == "?" }).map { _ in .text("1") })
        let steps = try await plan(store, sql, values)
        #expect(!steps.isEmpty && !steps.contains { $0.hasPrefix("SCAN") }, "\(sql): \(steps)")
    }

    @Test("each table is told, and emptied, by an index")
    func tellsByIndex() async throws {
        let store = try Backend.database(Folder.shared.newFile())
        let person = FoundPerson(
            sessions: [Sample.session()], devices: [DeviceID("d")])
        let owned = OwnedRows(records: [.init("r")], codes: [], trials: [.init("t")], servicePeople: [.init("p")], slots: ["s"])
        let places = PersonTables { _, _ in nil }.places(of: person, owned)
        #expect(places.count == 17 && places.allSatisfy { !$0.1.isEmpty })
        for (table, conditions) in places {
            for (condition, arguments) in conditions {
                let told = try await plan(store, table.select(where: condition).sqlite, arguments + [1])
                let erased = try await plan(store, "DELETE FROM \(table.name) WHERE \(condition)", arguments)
                for steps in [told, erased] {
                    #expect(!steps.isEmpty && !steps.contains { $0.hasPrefix("SCAN") }, "\(table.name) where \(condition): \(steps)")
                }
            }
        }
    }

    @Test("every column of every table that holds people is told")
    func tellsEveryColumn() async throws {
        let store = try Backend.database(Folder.shared.newFile())
        let person = FoundPerson(sessions: [Sample.session()], devices: [DeviceID("d")])
        for (table, _) in PersonTables(attributes: { _, _ in nil }).places(of: person, OwnedRows()) {
            let columns: [String] = try await store.read { try $0.values("SELECT name FROM pragma_table_info(?)", [table.name]) }
            #expect(Set(columns) == Set(table.columnNames), "\(table.name)")
        }
    }
}
