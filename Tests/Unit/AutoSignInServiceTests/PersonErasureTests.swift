import Clocks
import Contracts
import Faults
import Storage
import Testing

@testable import AutoSignInService

/// The service tells and erases the records of a person.
@Suite(.everyEngine) struct PersonErasureTests {
    private static let ada = PersonLogin(mvpd: "NorthCable", userID: "ada")

    private func export(_ rig: TokenRig, logins: [PersonLogin] = [Self.ada], devices: [String] = []) async throws -> AccountHolderExport {
        try await rig.service.operations.exportPerson(AccountHolder(logins: logins, deviceIDs: devices), context: rig.context)
    }

    @discardableResult
    private func erase(_ rig: TokenRig, logins: [PersonLogin] = [Self.ada], devices: [String] = []) async throws -> ErasedRecords {
        try await rig.service.operations.erasePerson(AccountHolder(logins: logins, deviceIDs: devices), context: rig.context)
    }

    @Test("everything of a person is told by table: account, logins, families, values, sessions, redemptions")
    func tells() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        _ = try await rig.optIn("tv-9", user: "somebody else")
        for told in [try await export(rig), try await export(rig, logins: [], devices: ["tv-2"])] {
            let tables = Dictionary(uniqueKeysWithValues: (told.records?.tables ?? []).map { ($0.name, $0.rows.count) })
            #expect(
                tables == ["account": 1, "account_login": 1, "family": 1, "token_version": 1, "redemption": 1, "streaming_session": 1], "\(tables)")
            #expect(told.logins == [Self.ada])
            let all = (told.records?.tables ?? []).flatMap(\.rows).joined()
            #expect(
                all.contains(token.accountID) && !all.contains(token.value) && !all.contains("somebody else"), "no value in clear, and nobody else")
        }
    }

    @Test("after an erasure and Apple's answer no row of the person is left, and others have lost nothing")
    func erases() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        let other = try await rig.optIn("tv-9", user: "bea")
        // Each is an event of the account.
        for isLocked in [true, false] {
            let lock = SetAccountLockRequest(accountID: token.accountID, isLocked: isLocked)
            _ = try await rig.service.operations.setAccountLock(lock, context: rig.context)
        }
        #expect(try await export(rig).records?.tables.first { $0.name == "security_event" }?.rows.count == 2)
        let erased = try await erase(rig, devices: ["tv-1", "tv-2"])
        #expect(erased.tables.contains { $0.name == "redemption" && $0.rows == 1 })
        // And that of its end.
        #expect(erased.tables.contains { $0.name == "security_event" && $0.rows >= 2 }, "\(erased.tables)")
        let events: [String] = try await rig.files.read { try $0.values("SELECT account_id FROM security_event WHERE account_id IS NOT NULL") }
        #expect(events.isEmpty)
        #expect(erased.tables.contains { $0.name == "account" && $0.rows == 1 })
        #expect(erased.remainders.contains { $0.name == "family" && $0.rows == 1 }, "Apple has yet to be told")
        let told = try await export(rig, devices: ["tv-1", "tv-2"])
        #expect(told.records?.tables.isEmpty == true && told.logins.isEmpty, "\(told.records?.tables ?? [])")
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil && !rig.apple.values().contains(token.value))
        let left: (Int, Int) = try await rig.files.read { database in
            let families: [String] = try database.values("SELECT id FROM family WHERE account_id = ''")
            let versions: [String] = try database.values("SELECT id FROM token_version WHERE family_id = ?", [token.familyID])
            return (families.count, versions.count)
        }
        #expect(left == (0, 0), "the last letter takes what it needed with it")
        #expect(try await rig.state(other.familyID) == .active)
        #expect(try await erase(rig).tables.isEmpty, "once more does no harm")
    }

    /// What memory holds of a token: `values`, `families`, `accounts`.
    private func kept(_ rig: TokenRig, of token: IssuedToken) throws -> Set<String> {
        var kept: Set<String> = []
        if case .hit = rig.store.versions.lookup(try #require(TokenValue(token.value)).id) { kept.insert("values") }
        if case .hit = rig.store.families.lookup(FamilyID(token.familyID)) { kept.insert("families") }
        if case .hit = rig.store.accounts.lookup(AccountID(token.accountID)) { kept.insert("accounts") }
        return kept
    }

    @Test("nothing of an erased person stays in memory: not of a family that had ended before, nor the older value of one that waits for Apple")
    func forgetsValues() async throws {
        for isOver in [true, false] {
            let rig = try TokenRig()
            let token = try await rig.optIn()
            if isOver {
                try await rig.revoke(token.familyID)
            } else {
                _ = try await rig.rotate(token.familyID)
            }
            try await rig.deliver()
            if !isOver { try await erase(rig) }
            #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
            let expected: Set<String> = !rig.files.isCoherent ? [] : isOver ? ["values", "families", "accounts"] : ["values", "families"]
            #expect(try kept(rig, of: token) == expected)
            if isOver { try await erase(rig) } else { try await rig.deliver() }
            #expect(try kept(rig, of: token).isEmpty)
            #expect(await refusal { try await rig.redeem(token.value) } == .tokenInvalid)
        }
    }

    @Test("an opt-in that began before makes no account; a minute later the person may come back")
    func outlivesOptIns() async throws {
        let rig = try TokenRig()
        try await erase(rig)
        rig.logins.signIn("tv-1")
        #expect(await refusal { try await rig.issue() } == .sessionNotFresh)
        #expect(try await export(rig).records?.tables.isEmpty == true)
        rig.clock.advance(by: .seconds(61))
        rig.logins.signIn("tv-1")
        #expect(try await !rig.issue().accountID.isEmpty)
    }

    @Test("the account of somebody else who once used the device is not the person's")
    func sparesOthers() async throws {
        let rig = try TokenRig()
        let bea = try await rig.optIn("tv-1", user: "bea")
        rig.logins.signOut("tv-1")
        try await erase(rig, devices: ["tv-1"])
        #expect(try await rig.state(bea.familyID) == .active)
    }

    @Test("what is asked is bounded")
    func isBounded() async throws {
        let rig = try TokenRig()
        let many = (0...1000).map { "device-\($0)" }
        #expect(await refusal { try await export(rig, devices: many) } == .invalidRequest)
        #expect(await refusal { try await erase(rig, devices: many) } == .invalidRequest)
    }
}

/// No look-up of a person reads a whole table.
struct PersonErasurePlanTests {
    @Test("each statement stands on an index, and every column is told")
    func usesIndexes() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let steps = try await rig.files.read { database -> [String] in
            func plan(_ sql: String, _ arguments: Arguments) throws -> [String] {
                try database.all(Statement("EXPLAIN QUERY PLAN " + sql), arguments) { columns -> String in
                    _ = (columns.next() as Int, columns.next() as Int, columns.next() as Int)
                    return "\(columns.next() as String) of \(sql)"
                }
            }
            var steps = try HolderStatements.all.flatMap { sql in try plan(sql, Arguments((0..<sql.count { $0 == "?" }).map { _ in .text("1") })) }
            for (table, places) in try HolderTables.places(of: [AccountID(token.accountID)], [DeviceID("tv-1")], database) {
                let columns: [String] = try database.values("SELECT name FROM pragma_table_info(?)", [table.name])
                if Set(columns) != Set(table.columnNames) { steps.append("SCAN: columns of \(table.name) that are not told") }
                for (condition, arguments) in places { steps += try plan(table.select(where: condition).sqlite, arguments + [1]) }
            }
            return steps
        }
        #expect(steps.count > 8 && !steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }
}
