import CatalogueSamples
import Clocks
@testable import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Storage
import Testing

/// Two copies of the service with one store.
@Suite("Copies", .eachEngine)
struct CopiesTests {
    @Test(
        "each push through one copy is served by the other within a second, to watchers too, and its octets are the same", .tags(.timing))
    func hears() async throws {
        let one = try await AdministrationWorld()
        let other = try await AdministrationWorld(one.world)
        #expect(one.published.configuration == other.published.configuration)
        let follower = CatalogueFollower(store: CatalogueStore(other.store), published: other.published, logger: CatalogueFolder.silent)
        let following = Task { await follower.run() }
        var versions = other.published.subscribe(knownVersion: 0) { $0.configuration.version }.makeAsyncIterator()
        _ = try await versions.next()
        var slowest: Duration = .zero
        for name in ["Late", "Later", "Latest"] {
            try await one.edit(.requestor, "NEWS") { $0["name"] = name }.changed()
            #expect(try await other.draft().changes.map(\.newJson) == ["\"\(name)\""], "whoever asks another copy sees the draft")
            let pushed = try await one.push().version()
            let start = ContinuousClock.now
            #expect(try await versions.next() == pushed.version)
            slowest = max(slowest, start.duration(to: .now))
            #expect(other.requestorName("NEWS") == name)
            #expect(try other.published.encoded() == one.published.encoded())
            #expect(try await other.versions().first?.status == .success)
        }
        #expect(slowest < .seconds(1) && follower.lacking == nil, "\(slowest)")
        following.cancel()
        await following.value
    }

    @Test("a copy that asks the store in vain says so after a while, and ends its subscriptions again and again, until it is heard")
    func silence() async throws {
        let (one, other) = try await { (try await AdministrationWorld($0), try await AdministrationWorld($0)) }(Self.folder())
        let follower = CatalogueFollower(
            store: CatalogueStore(other.store), published: other.published, patience: .milliseconds(60), logger: CatalogueFolder.silent)
        await other.store.close()
        for _ in 0..<2 {
            // A subscriber that comes while it is silent gets the present version.
            let stream = other.published.subscribe(knownVersion: 0) { $0.configuration.version }
            var versions = stream.makeAsyncIterator()
            #expect(try await versions.next() == one.published.configuration.version)
            try await Task.sleep(for: .milliseconds(80))
            await follower.ask()
            let fault = await #expect(throws: Fault.self) { for try await _ in stream {} }
            #expect(fault?.code == .unavailable && follower.lacking != nil)
        }
    }

    private static func folder() throws -> CatalogueFolder {
        let folder = try CatalogueFolder()
        try folder.write(AdministrationWorld.catalogue, to: "catalogue.json")
        return folder
    }

    /// Each with an entry of its own.
    private static let writers: [(AdministrationWorld.Who, EntityKind, String)] = [
        (.ed, .requestor, "NEWS"), (.rita, .requestor, "SPORT"), (.olga, .application, "news-tv"), (.otto, .application, "sport-tv"),
    ]

    @Test("pushes through both copies at once: each that is answered is there, in one chain, with numbers without a gap")
    func crowd() async throws {
        let one = try await AdministrationWorld()
        let copies = [one, try await AdministrationWorld(one.world)]
        let rounds = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1" ? 2500 : 12
        let pushed = try await withThrowingTaskGroup { group in
            for (number, (who, kind, id)) in Self.writers.enumerated() {
                group.addTask {
                    var versions: [UInt64] = []
                    for round in 0..<rounds {
                        // A change that is edited through one copy is pushed through the other.
                        let (here, there) = (copies[(number + round) % 2], copies[(number + round + 1) % 2])
                        try await here.edit(kind, id, as: who) { $0["name"] = "\(who) \(round)" }.changed()
                        versions.append(try await there.push("\(who) \(round)", as: who).version().version)
                    }
                    return versions
                }
            }
            return try await group.reduce(into: [UInt64]()) { $0 += $1 }
        }
        let versions = try await CatalogueStore(one.store).read(now: one.world.clock.now()) { try $0.versions().map(\.version) }
        let first = try #require(versions.last)
        #expect(versions == (0..<UInt64(4 * rounds + 1)).reversed().map { first + $0 })
        #expect(pushed.sorted() == Array(versions.reversed().dropFirst()))
        for copy in copies {
            let verdict = try await copy.verdict()
            #expect(verdict.isIntact && verdict.versions == UInt64(4 * rounds + 1) && verdict.auditRecords == verdict.versions, "\(verdict.problems)")
            let follower = CatalogueFollower(store: CatalogueStore(copy.store), published: copy.published, logger: CatalogueFolder.silent)
            await follower.ask()
            #expect(copy.published.configuration.version == versions.first)
            #expect(copy.requestorName("NEWS") == "ed \(rounds - 1)" && copy.requestorName("SPORT") == "rita \(rounds - 1)")
        }
    }

    @Test("two pushes at once that change the same property: one is in, the other hears of the conflict")
    func conflict() async throws {
        let one = try await AdministrationWorld()
        let other = try await AdministrationWorld(one.world)
        try await one.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Ed's" }.changed()
        try await other.edit(.requestor, "NEWS", as: .emma) { $0["name"] = "Emma's" }.changed()
        async let first = one.push(as: .ed)
        async let second = other.push(as: .emma)
        let outcomes = [try await first, try await second]
        #expect(outcomes.compactMap { try? $0.version() }.count == 1)
        #expect(outcomes.compactMap(\.refusal?.reason) == [.conflict])
    }

    @Test("the end of a rule is recorded once, whichever copies notice it")
    func endsOnce() async throws {
        let one = try await AdministrationWorld()
        let other = try await AdministrationWorld(one.world)
        let end = UInt64((one.world.clock.now() + .seconds(60)).milliseconds)
        let request = StartDegradationRequest(
            token: AdministrationWorld.Who.ed.token, kind: .authnAll, requestorID: "NEWS", mvpdIDs: ["TinyCable"], endsAtMilliseconds: end)
        guard case .started = try await one.service.startDegradation(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "refused")
        }
        await CatalogueFollower(store: CatalogueStore(other.store), published: other.published, logger: CatalogueFolder.silent).ask()
        one.world.clock.advance(by: .seconds(61))
        #expect(one.service.hasOverdueDegradations && other.service.hasOverdueDegradations)
        try await withThrowingTaskGroup { group in
            for copy in [one, other, one, other] { group.addTask { try await copy.service.endOverdueDegradations() } }
            try await group.waitForAll()
        }
        #expect(try await other.audit().count { $0.action == "degradation_ended" } == 1)
        #expect(one.published.configuration == other.published.configuration && one.published.configuration.degradationRules.isEmpty)
    }

    @Test("copies that start at once on nothing make one version")
    func firstStarts() async throws {
        let folder = try Self.folder()
        let versions = try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { try await AdministrationWorld(folder).published.configuration.version } }
            return try await group.reduce(into: Set<UInt64>()) { $0.insert($1) }
        }
        #expect(versions.count == 1)
        #expect(try await AdministrationWorld(folder).verdict().versions == 1)
    }
}
