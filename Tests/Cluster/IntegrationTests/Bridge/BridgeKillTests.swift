@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// Our side of a bridge is killed at each step of a sign-in and a play, and at random moments. What was acknowledged stays, but for a media token that waits.
/// For each kill upstream is left one registration and one session that nobody uses, at most (bridge §4.2, §9.1).
@Suite("The bridge under kills and outages", .serialized, .bridge)
struct BridgeKillTests: BridgeSuite {
    /// What a viewer does when a service dies, and the call upstream that is under way then.
    enum Step: String, CaseIterable, Sendable {
        case register, token, create, comeBack, adopt, decide, logout

        var operation: String {
            switch self {
            case .register: "register"
            case .token: "token"
            case .create: "createSession"
            case .comeBack, .adopt: "profileByCode"
            case .decide: "authorize"
            case .logout: "logout"
            }
        }

        /// The fault that holds the call until the caller is dead.
        var fault: [String: Any] {
            switch self {
            // Upstream has told everything, and our side is about to store it.
            case .adopt: ["kind": "delay", "milliseconds": 1]
            // Upstream has heard nothing: others have to tell it.
            case .logout: ["kind": "hang"]
            default: ["kind": "applyThenHang"]
            }
        }
    }

    /// Where and when a service dies.
    struct Death: Sendable, CustomTestStringConvertible {
        let copies: Int
        /// `nil`: at random moments.
        var step: Step?

        var testDescription: String { "\(step?.rawValue ?? "random moments") with \(copies)" }

        /// Those of one copy come first: each change of the number starts the services anew. With one copy it is the same code, after a start: some steps of it in
        /// each run.
        static let all: [Death] = [1, 2].flatMap { copies -> [Death] in
            let steps = copies == 2 || BridgeKillTests.isLong ? Step.allCases : [.register, .adopt, .logout]
            return steps.map { Death(copies: copies, step: $0) } + [Death(copies: copies)]
        }
    }

    fileprivate static let isLong = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1"
    /// For each number of copies.
    private static let moments = isLong ? 100 : 3
    /// Repeats a run of random moments: it is in the message of each failure.
    private static let seed =
        ProcessInfo.processInfo.environment["BOXOFFICE_TEST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)

    @Test("a kill at any step, and at random moments, costs nothing that was acknowledged", arguments: Death.all)
    func survives(_ death: Death) async throws {
        let world = try await KilledWorld.with(death.copies)
        guard let step = death.step else { return try await killAtRandom(world) }
        _ = try await kill(world, at: step)
        try await world.audit()
    }

    @Test(
        "after a kill the next call works within a second, or within one after the start of the only copy", .tags(.timing), .onReleasePrograms,
        arguments: [1, 2])
    func healsQuickly(copies: Int) async throws {
        let world = try await KilledWorld.with(copies)
        for step in [Step.register, .decide] {
            let healing = try await kill(world, at: step)
            let bound = (copies == 2 ? .zero : healing.start) + .seconds(1)
            #expect(
                healing.time <= bound,
                "\(step.rawValue): it worked again after \(Console.text(of: healing.time)); the start took \(Console.text(of: healing.start))")
        }
    }

    /// - Returns: The time from the kill until the step was done, and the time that the start took.
    private func kill(_ world: KilledWorld, at step: Step) async throws -> (time: Duration, start: Duration) {
        let viewer = try await world.viewer()
        let actions = viewer.journey
        let at = viewer.index(of: step)
        for action in actions[..<at] { try await world.until(action) }
        try await world.upstream.fail(step.operation, step.fault.merging(["times": 1]) { $1 })
        let number = try await world.upstream.entries().last?.number ?? 0
        let doing = Task { try await world.until(actions[at]) }
        var port = 0
        try await Condition.wait("upstream is asked to \(step.operation)", within: .seconds(20)) {
            port = try await world.upstream.entries(step.operation, after: number).last?.port ?? 0
            return port > 0
        }
        try await world.kill(try world.holder(of: port))
        let done = try await doing.value
        let start = try await world.started()
        for action in actions[(at + 1)...] { try await world.until(action) }
        try await viewer.checkEnd()
        return (done - world.lastKill, start)
    }

    private func killAtRandom(_ world: KilledWorld) async throws {
        var random = Seeded(state: Self.seed &+ UInt64(world.copies))
        for moment in 0..<Self.moments {
            async let watching: Void = world.watch()
            try await Task.sleep(for: .milliseconds(Int64.random(in: 0...world.journeyMilliseconds, using: &random)))
            let victim = try #require(try world.victims().randomElement(using: &random))
            try await world.kill(victim)
            do {
                try await watching
                try await world.started()
                try await world.audit()
            } catch {
                Issue.record("\(victim.copy.name), moment \(moment) of seed \(Self.seed): \(error)")
                throw error
            }
        }
    }

    /// A generator whose numbers can be had again (SplitMix64).
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }
}
