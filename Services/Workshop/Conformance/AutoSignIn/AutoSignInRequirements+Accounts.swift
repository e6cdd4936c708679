internal import Contracts

extension AutoSignInRequirements {
    static let accounts = [
        Requirement(
            "AUTO-16",
            "A device reaches its own account only: another's families are not listed, and cannot be confirmed or revoked (`family_unknown`), nor its sessions flagged (`session_unknown`).",
            source: "apple.md §4, autosignin.proto AutomaticSignIn"
        ) { examination in
            let (ada, bob) = (try await TestSubscriber(examination), try await TestSubscriber(examination))
            let (hers, his) = (try await ada.optIn(), try await bob.optIn())
            let device = try await TestSubscriber(examination, mvpd: "")
            let session = try await device.redeemed(hers.value).session?.id ?? ""
            for (person, own) in [(ada, hers), (bob, his)] {
                let status = try await person.status()
                guard status.accountID == own.accountID, status.families.map(\.id) == [own.familyID] else {
                    throw Unmet("the family \(own.familyID) alone", came: FrameText.text(status))
                }
            }
            let unknown: Set = ["family_unknown"]
            try await bob.conversation.refusal(of: AutomaticSignInMethods.confirmStored, bob.confirm(hers.familyID, .failed), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.revokeToken, bob.revoke(hers.familyID), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.revokeToken, bob.revoke(value: hers.value), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.revokeAll, bob.revokeAll(hers.accountID), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.flagSignIn, bob.flag(session), codes: ["session_unknown"])
            let ended = try await bob.conversation.call(AutomaticSignInMethods.revokeAll, bob.revokeAll())
            guard ended.familyIDs == [his.familyID] else { throw Unmet("family_ids [\(his.familyID)]", came: "\(ended.familyIDs)") }
            try await device.redeemed(hers.value)
        },
        Requirement(
            "AUTO-17",
            "GetOptInStatus tells what is so now: no family before the opt-in, PENDING until it is stored, then ACTIVE with its devices, the latest first, and REVOKED with time and reason.",
            source: "autosignin.proto GetOptInStatus, TokenFamily"
        ) { examination in
            let person = try await TestSubscriber(examination)
            guard try await person.status().families.isEmpty else { throw Unmet("no family before the opt-in", came: "one") }
            let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, person.request())
            _ = try await family(issued, of: person, in: .pending)
            try await person.conversation.call(AutomaticSignInMethods.confirmStored, person.confirm(issued.familyID))
            _ = try await family(issued, of: person, in: .active)
            var sessions: [String] = []
            for _ in 0..<2 {
                let device = try await TestSubscriber(examination, mvpd: "")
                sessions.insert(try await device.redeemed(issued.value).session?.id ?? "", at: 0)
                try await Task.sleep(for: .milliseconds(20))
            }
            let used = try await family(issued, of: person, in: .active)
            guard used.devices.map(\.sessionID) == sessions, used.lastUsedAtMilliseconds > 0, used.revokedAtMilliseconds == 0 else {
                throw Unmet("devices with the sessions \(sessions), and when it was used last", came: FrameText.text(used))
            }
            try await person.conversation.call(AutomaticSignInMethods.revokeToken, person.revoke(issued.familyID))
            let over = try await family(issued, of: person, in: .revoked)
            guard over.revokedAtMilliseconds > 0, over.revocationReason == "conformance" else {
                throw Unmet("revoked_at_ms, and the reason `conformance`", came: FrameText.text(over))
            }
        },
    ]

    /// - Throws: `Unmet` unless the person's status lists the family once, in that state.
    private static func family(_ issued: IssuedToken, of person: TestSubscriber, in state: FamilyState) async throws -> TokenFamily {
        let families = try await person.status().families.filter { $0.id == issued.familyID }
        guard families.count == 1, families[0].state == state else {
            throw Unmet("the family \(issued.familyID), \(state)", came: families.map { FrameText.text($0) }.joined(separator: ", "))
        }
        return families[0]
    }
}
