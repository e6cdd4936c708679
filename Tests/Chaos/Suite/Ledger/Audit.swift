import Foundation

/// Asks the cluster for each entry of the ledger.
struct Audit: Sendable {
    let app: App
    let ledger: Ledger
    /// Checks under way at a time.
    private static let width = 16
    /// How long an entry may go unanswered before it counts as lost.
    private static let patience: Duration = .seconds(8)

    /// - Returns: How many entries were asked for, and what is wrong, a line each.
    func run() async -> (checked: Int, problems: [String]) {
        let all = await ledger.everything
        var checks: [@Sendable () async -> String?] = []
        for client in all.clients { checks.append { await self.check("client \(client.id)") { await self.app.token(client) } } }
        for code in all.codes { checks.append { await self.check("code \(code.code)") { await self.app.device(code.device).readCode(code.code) } } }
        for code in all.deletedCodes {
            checks.append {
                await self.check("deleted code \(code.code)") { await self.app.device(code.device).readCode(code.code, expecting: [404]) }
            }
        }
        for session in all.sessions { checks.append { await self.check(session) } }
        for session in all.endedSessions {
            checks.append { await self.check("logout of \(session.device)") { await self.app.device(session.device).session(expecting: [404]) } }
        }
        for optIn in all.optIns {
            checks.append { await self.check("opt-in \(optIn.family)") { await self.app.device(UUID().uuidString).redeem(optIn.value) } }
        }
        for optOut in all.optOuts {
            checks.append {
                await self.check("opt-out \(optOut.family)") { await self.app.device(UUID().uuidString).redeem(optOut.value, expecting: [401]) }
            }
        }
        checks.append { await self.checkPushes(all.pushes) }
        return (all.count, await Self.run(checks))
    }

    private func check(_ session: SessionEntry) async -> String? {
        let device = app.device(session.device)
        if let problem = await check("session of \(session.device)", { await device.session(mvpd: session.mvpd) }) { return problem }
        guard session.isPermitted else { return nil }
        return await check("permission of \(session.device)") { await device.permission() }
    }

    private func checkPushes(_ pushes: [PushEntry]) async -> String? {
        guard let versions = await app.administration.versions() else { return "the versions of the catalogue cannot be read" }
        let lost = pushes.filter { versions[$0.version] != $0.description }
        return lost.isEmpty ? nil : "pushes that were acknowledged and are not there: \(lost.map(\.version))"
    }

    /// - Returns: The problem; `nil` when the answer is as it should be.
    private func check(_ what: String, _ ask: () async -> Outcome) async -> String? {
        let end = ContinuousClock.now + Self.patience
        while true {
            switch await ask() {
            case .done: return nil
            case .wrong(let reason): return "\(what): \(reason)"
            case .refused, .excused, .broken, .late:
                guard ContinuousClock.now < end else { return "\(what): no answer in \(Self.patience)" }
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private static func run(_ checks: [@Sendable () async -> String?]) async -> [String] {
        await withTaskGroup(of: String?.self) { group in
            var problems: [String] = []
            for (index, check) in checks.enumerated() {
                if index >= width, let problem = await group.next() ?? nil { problems.append(problem) }
                group.addTask { await check() }
            }
            for await problem in group { if let problem { problems.append(problem) } }
            return problems
        }
    }
}
