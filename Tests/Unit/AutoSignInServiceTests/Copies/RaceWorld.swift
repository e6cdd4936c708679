import Clocks
import Contracts
import Faults
import Storage
import Synchronization

@testable import AutoSignInService

enum RaceAction: CaseIterable {
    case optIn, redeem, redeemAgain, rotate, revoke, revokeAll, flag, deliver, keepHouse, lock, unlock, close
}

/// The actions of two copies of the service, and their knowledge of each other's actions.
final class RaceWorld: Sendable {
    static let familiesPerAccount = 4
    private static let people = ["ada", "bob"]
    private static let devices = 5

    private struct Known {
        var tokens: [IssuedToken] = []
        var sessions: [String] = []
    }

    private let copies: [TokenRig]
    private let isDisturbed: Bool
    private let known = Mutex(Known())

    /// - Parameter isDisturbed: True when the store may be away, so that callers are told to come again.
    init(_ one: TokenRig, _ other: TokenRig, isDisturbed: Bool = false) throws {
        copies = [one, other]
        self.isDisturbed = isDisturbed
        for person in Self.people {
            for device in 0..<Self.devices { one.logins.signIn("\(person)-\(device)", user: person) }
        }
    }

    /// - Returns: True when it was done.
    /// - Throws: A fault that no caller may see: an internal one, or one that means that two transactions never came past each other.
    @discardableResult
    func act(_ action: RaceAction, at copy: Int, _ seed: UInt64) async throws -> Bool {
        var random = SplitMix(state: seed)
        do {
            try await perform(action, copies[copy], &random)
            return true
        } catch let fault as Fault {
            guard fault.code != .internal, isDisturbed || ![.unavailable, .overloaded].contains(fault.code) else { throw fault }
            return false
        }
    }

    private func perform(_ action: RaceAction, _ rig: TokenRig, _ random: inout SplitMix) async throws {
        let person = Self.people.randomElement(using: &random)!
        let device = "\(person)-\(Int.random(in: 0..<Self.devices, using: &random))"
        let (token, session) = known.withLock { ($0.tokens.randomElement(using: &random), $0.sessions.randomElement(using: &random)) }
        let guest = "guest-\(Int.random(in: 0..<3, using: &random))"
        let caller = Caller(who: .device(rig.call(device)))
        switch action {
        case .optIn:
            let token = try await rig.issue(device)
            rig.apple.store(token.value)
            try await rig.confirm(token.familyID, device: device)
            known.withLock { $0.tokens.append(token) }
        case .redeem, .redeemAgain:
            guard let token else { return }
            let redeemed = try await rig.redeem(token.value, on: guest)
            if let id = redeemed.session?.id { known.withLock { $0.sessions.append(id) } }
            if action == .redeemAgain { try await rig.redeem(token.value, on: guest) }
        case .rotate: if let token { _ = try await rig.rotate(token.familyID) }
        case .revoke: if let token { try await rig.revoke(token.familyID, from: device) }
        case .revokeAll: _ = try await rig.service.automaticSignIn.revokeAll(RevokeAllRequest(caller: caller), context: rig.context)
        case .flag:
            guard let session else { return }
            _ = try await rig.service.automaticSignIn.flagSignIn(FlagSignInRequest(caller: caller, sessionID: session), context: rig.context)
        case .deliver: try await rig.deliver()
        case .keepHouse: try await rig.service.housekeeping.round()
        case .lock, .unlock:
            guard let token else { return }
            _ = try await rig.service.operations.setAccountLock(
                SetAccountLockRequest(accountID: token.accountID, isLocked: action == .lock), context: rig.context)
        case .close:
            // Seldom, so that there is something to close.
            guard let token, Int.random(in: 0..<4, using: &random) == 0 else { return }
            _ = try await rig.service.operations.closeAccount(CloseAccountRequest(accountID: token.accountID), context: rig.context)
        }
    }

    /// Until nothing waits any more.
    func settle() async throws {
        for _ in 0..<20 {
            for copy in copies {
                copy.clock.advance(by: .seconds(600))
                try await copy.deliver()
            }
        }
    }
}

extension Database {
    /// The broken promises of the store, a line each.
    func brokenPromises(familiesPerAccount: Int) throws -> [String] {
        var broken: [String] = []
        func check(_ what: String, _ statement: Statement, _ arguments: Arguments = []) throws {
            for row in try values(statement, arguments) as [String] { broken.append("\(what): \(row)") }
        }
        try check(
            "an open account that no login opens",
            "SELECT id FROM account WHERE closed_at_ms IS NULL AND id NOT IN (SELECT account_id FROM account_login)")
        try check("a login of no account", "SELECT account_id FROM account_login WHERE account_id NOT IN (SELECT id FROM account)")
        try check(
            "too many families",
            "SELECT account_id FROM family WHERE state IN (1, 2) GROUP BY account_id HAVING count(*) > ?", [familiesPerAccount])
        try check("two active versions", "SELECT family_id FROM token_version WHERE state = 2 GROUP BY family_id HAVING count(*) > 1")
        try check("two pending versions", "SELECT family_id FROM token_version WHERE state = 1 GROUP BY family_id HAVING count(*) > 1")
        try check(
            "a version that outlives its family",
            "SELECT token_version.id FROM token_version JOIN family ON family.id = family_id WHERE token_version.state IN (1, 2) AND family.state NOT IN (1, 2)"
        )
        try check(
            "a session of a revoked family",
            "SELECT streaming_session.id FROM streaming_session JOIN family ON family.id = family_id WHERE family.state = 4")
        try check(
            "a session of a closed account",
            "SELECT session.id FROM streaming_session AS session JOIN account ON account.id = account_id WHERE closed_at_ms IS NOT NULL")
        try check(
            "two sessions of a device", "SELECT device_id FROM streaming_session GROUP BY device_id, requestor HAVING count(*) > 1")
        try check("two letters of one number", "SELECT lane FROM outbox GROUP BY lane, lane_no HAVING count(*) > 1")
        return broken
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
