import Contracts
import Faults
import Storage
import Synchronization
import Testing

@testable import AutoSignInService

/// Two copies of the service do two things at once to people who sign in with Apple.
@Suite("Races of Sign in with Apple", .everyEngine)
struct AppleRaceTests {
    private enum Action: CaseIterable {
        case enter, enterAgain, link, unlink, consentEnds, accountEnds, mailEnds, revoke, close, check, deliver
    }

    private static let people = ["ada", "bob"]

    @Test(
        "whatever two copies do at once, every link, grant and session has its account, and nobody stands before a closed door",
        arguments: [1, 2, 3] as [UInt64])
    func pairs(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let one = try AppleRig()
        let copies = [one, try one.copy()]
        for person in Self.people { one.logins.signIn("home-\(person)", user: person) }
        for round in 0..<40 {
            let (first, second) = (Action.allCases.randomElement(using: &random)!, Action.allCases.randomElement(using: &random)!)
            let (here, there) = (random.next(), random.next())
            async let left: Void = act(first, copies[0], here)
            // The same choices now and then: both then want the same thing.
            async let right: Void = act(second, copies[1], round % 3 == 0 ? here : there)
            do { _ = try await (left, right) } catch { Issue.record("seed \(seed), round \(round): \(first) and \(second): \(error)") }
            if round % 10 == 9 { for copy in copies { copy.clock.advance(by: .seconds(90_000)) } }
            let broken = try await one.files.read { try $0.brokenTies() }
            #expect(broken == [], "seed \(seed), round \(round): \(first) and \(second)")
        }
        for copy in copies { copy.clock.advance(by: .seconds(90_000)) }
        for copy in copies { try await copy.deliver() }
        let known = try await one.files.read { Set(try $0.values("SELECT id FROM streaming_session") as [String]) }
        #expect(one.logins.automaticSessions.subtracting(known) == [], "no session at authentication outlives the one here")
        #expect(try await one.files.read { try $0.value("SELECT count(*) FROM outbox") as Int? } == 0)
    }

    /// - Throws: A fault that no caller may see: an internal one, or one that means that two transactions never came past each other.
    private func act(_ action: Action, _ rig: AppleRig, _ seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let person = Self.people.randomElement(using: &random)!
        let device = "\(person)-\(Int.random(in: 0..<2, using: &random))"
        do {
            try await perform(action, rig, person, device, isSeldom: Int.random(in: 0..<3, using: &random) == 0)
        } catch let fault as Fault {
            guard ![.internal, .unavailable, .overloaded].contains(fault.code) else { throw fault }
        } catch is Unexpected {
            // The person is asked something first.
        }
    }

    private func perform(_ action: Action, _ rig: AppleRig, _ person: String, _ device: String, isSeldom: Bool) async throws {
        let known = try await rig.files.read { database in
            try database.appleLink(team: AppleTeamID("ACMETEAM01"), subject: person)
        }
        switch action {
        case .enter, .enterAgain:
            let signed = try await rig.approve(person, device: device) { $0.with("email", nil) }
            _ = try await rig.signIn(signed, device: device, creates: true).entered()
        case .link:
            let home = "home-\(person)"
            _ = try await rig.link(rig.approve(person, device: home) { $0.with("email", nil) }, device: home)
        case .unlink: try await rig.unlink(device: device)
        case .consentEnds: _ = try await rig.notify("consent-revoked", subject: person)
        case .accountEnds: if isSeldom { _ = try await rig.notify("account-deleted", subject: person) }
        case .mailEnds: _ = try await rig.notify("email-disabled", subject: person)
        case .revoke:
            guard isSeldom, let known else { return }
            _ = try await rig.service.operations.revokeApple(RevokeAppleRequest(linkID: known.id.text), context: rig.context)
        case .close:
            guard isSeldom, let known else { return }
            _ = try await rig.service.operations.closeAccount(CloseAccountRequest(accountID: known.account.text), context: rig.context)
        case .check: try await rig.service.appleSessionChecks.round()
        case .deliver: try await rig.deliver()
        }
    }
}

extension Database {
    /// The broken ties that the store promises, a line each.
    fileprivate func brokenTies() throws -> [String] {
        var broken: [String] = []
        func check(_ what: String, _ statement: Statement) throws {
            for row in try values(statement) as [String] { broken.append("\(what): \(row)") }
        }
        try check(
            "an open account that nothing opens",
            """
            SELECT id FROM account WHERE closed_at_ms IS NULL AND id NOT IN (SELECT account_id FROM account_login)
                AND id NOT IN (SELECT account_id FROM apple_link)
            """)
        try check(
            "a link of a closed account",
            "SELECT apple_link.id FROM apple_link JOIN account ON account.id = account_id WHERE closed_at_ms IS NOT NULL")
        try check(
            "a login of a closed account", "SELECT user_id FROM account_login JOIN account ON account.id = account_id WHERE closed_at_ms IS NOT NULL")
        try check("a grant of no link", "SELECT link_id FROM apple_grant WHERE link_id NOT IN (SELECT id FROM apple_link)")
        try check("a consent of no link", "SELECT link_id FROM apple_consent WHERE link_id NOT IN (SELECT id FROM apple_link)")
        try check(
            "a session of no link", "SELECT id FROM streaming_session WHERE link_id IS NOT NULL AND link_id NOT IN (SELECT id FROM apple_link)")
        try check(
            "a session of a consent that is over",
            """
            SELECT session.id FROM streaming_session AS session JOIN apple_consent ON apple_consent.link_id = session.link_id
            WHERE apple_consent.revoked_at_ms IS NOT NULL
            """)
        try check(
            "a session of a closed account",
            "SELECT session.id FROM streaming_session AS session JOIN account ON account.id = account_id WHERE closed_at_ms IS NOT NULL")
        try check("two sessions of a device", "SELECT device_id FROM streaming_session GROUP BY device_id, requestor HAVING count(*) > 1")
        return broken
    }
}
