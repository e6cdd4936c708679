internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
@testable import GatewayAdministration
@testable import GatewayEdge
internal import Hummingbird
internal import ManualClocks
internal import SamlProfile
internal import Synchronization
internal import Testing

/// The console's first page: what copies of services know, put together without waiting for any of them.
@Suite struct ConsoleHomeTests {
    private static let moment: UInt64 = 1_930_384_800_000

    private static func question<Answer: Sendable>(
        _ address: String, _ answer: @escaping @Sendable () async throws -> Answer
    ) -> ClusterView.Question<Answer> { ClusterView.Question(address: address) { _ in try await answer() } }

    private static func points(_ points: FailingDecisionPoint...) -> FailingDecisionPoints { FailingDecisionPoints(points: points) }

    private static func failing(
        _ mvpd: String, _ failures: UInt32, since: UInt64 = moment, at: UInt64 = moment + 60_000, code: String = "network_connection_timeout"
    ) -> FailingDecisionPoint {
        FailingDecisionPoint(mvpd: mvpd, failures: failures, failingSinceMilliseconds: since, failedAtMilliseconds: at, code: code)
    }

    private static let unimplemented = Fault(.unimplemented, "older")

    @Test("decision points that fail are one row for all copies, with the first moment, the latest reason and all failures")
    func decisionPoints() async throws {
        let cluster = ClusterView(failingDecisionPoints: {
            [
                Self.question("a:1") { Self.points(Self.failing("NorthCable", 4, since: Self.moment - 60_000), Self.failing("LakeTel", 9)) },
                Self.question("b:1") { Self.points(Self.failing("NorthCable", 3, at: Self.moment + 120_000, code: "network_received_error")) },
            ]
        })
        let page = try await ConsoleFixture(.operator, cluster: cluster).get("").text
        let names = page.matches(of: /data-label="MVPD"><a href="\/console\/mvpds\/\w+"><bdi>(\w+)</).map { String($0.1) }
        #expect(names == ["LakeTel", "NorthCable"])
        #expect(page.contains(#"data-label="Unanswered in a row">7 <span class="quiet">at 2 of 2 copies"#))
        #expect(page.contains(">2031-03-04 09:59 UTC<") && page.contains(">2031-03-04 10:02 UTC<"))
        #expect(page.contains("It cannot be reached, or what it answers is of no use.") && page.contains("It does not answer in time."))
        #expect(!page.contains("network_received_error") && page.contains("/console/degradation/new?mvpd=LakeTel"))
    }

    @Test("an MVPD from which nobody comes back to any copy is named; one that a copy has seen somebody return from is not, nor one with few people")
    func returns() async throws {
        func counts(_ mvpd: String, _ begun: UInt32, _ returned: UInt32 = 0, at moment: UInt64 = 0) -> MvpdReturns {
            MvpdReturns(mvpd: mvpd, begun: begun, returned: returned, returnedAtMilliseconds: moment)
        }
        let (first, second) = (
            ReturnCounts(mvpds: [
                counts("NorthCable", 4, at: Self.moment), counts("LakeTel", 40), counts("OpenFiber", 4), counts("ParkedTV", 6),
            ]), ReturnCounts(mvpds: [counts("NorthCable", 3), counts("LakeTel", 0, 1)])
        )
        let cluster = ClusterView(returns: { [Self.question("a:1") { first }, Self.question("b:1") { second }] })
        let page = try await ConsoleFixture(.operator, cluster: cluster).get("").text
        let names = page.matches(of: /data-label="MVPD"><a href="\/console\/mvpds\/\w+"><bdi>(\w+)</).map { String($0.1) }
        #expect(names == ["NorthCable", "ParkedTV"])
        #expect(page.contains(">7 people<") && page.contains(">2031-03-04 10:00 UTC<") && page.contains("not since the service started"))
    }

    @Test(
        "the sentence on people who come back says for how long they were counted: the longest time, where copies differ",
        arguments: [
            ([3600], "hour"), ([0], "hour"), ([1800], "30 minutes"), ([60], "minute"), ([90], "2 minutes"), ([900, 7200], "2 hours"),
            ([5400, 600], "90 minutes"),
        ] as [([UInt32], String)])
    func returnWindow(_ seconds: [UInt32], _ words: String) async throws {
        func page(_ mvpds: [MvpdReturns]) async throws -> String {
            let cluster = ClusterView(returns: {
                seconds.map { seconds in Self.question("a:\(seconds)") { ReturnCounts(mvpds: mvpds, windowSeconds: seconds) } }
            })
            return try await ConsoleFixture(.operator, cluster: cluster).get("").text
        }
        #expect(try await page([]).contains("Somebody came back from each MVPD to which 5 or more were sent within the last \(words)."))
        #expect(try await page([MvpdReturns(mvpd: "LakeTel", begun: 8)]).contains(">Sent there within the last \(words)<"))
    }

    @Test("an editor sees own MVPDs alone, without the numbers of others; services and certificates are for operators")
    func isBound() async throws {
        let cluster = ClusterView(
            peers: { [ClusterView.Peer(name: "config", copies: [ClusterView.Copy(address: "a:1", isServing: false)])] },
            failingDecisionPoints: { [Self.question("a:1") { Self.points(Self.failing("NorthCable", 7), Self.failing("Foreign", 9)) }] },
            returns: {
                [
                    Self.question("a:1") {
                        ReturnCounts(mvpds: [MvpdReturns(mvpd: "LakeTel", begun: 8), MvpdReturns(mvpd: "Foreign", begun: 9)])
                    }
                ]
            })
        let page = try await ConsoleFixture(.editor, cluster: cluster).get("").text
        #expect(page.contains("Decision points that fail") && page.contains(">NorthCable<") && page.contains(">LakeTel<"))
        #expect(!page.contains("Foreign") && !page.contains("Unanswered in a row") && !page.contains("8 people"))
        #expect(!page.contains("Services that do not serve") && !page.contains("Certificates"))
        let whole = try await ConsoleFixture(.operator, cluster: cluster).get("").text
        #expect(whole.contains("Foreign") && whole.contains("8 people") && whole.contains("Services that do not serve"))
    }

    @Test("copies of an older release do not tell: all of them, and the page says that of the cluster; some of them, and it says how many")
    func olderReleases() async throws {
        func page(_ answers: @escaping @Sendable () -> [ClusterView.Question<FailingDecisionPoints>]) async throws -> String {
            try await ConsoleFixture(.operator, cluster: ClusterView(failingDecisionPoints: answers)).get("").text
        }
        let none = try await page { ["a:1", "b:1"].map { Self.question($0) { throw Self.unimplemented } } }
        #expect(none.contains("This cluster does not tell which decision points fail."))
        let some = try await page { [Self.question("a:1") { Self.points() }, Self.question("b:1") { throw Self.unimplemented }] }
        #expect(some.contains("1 of 2 copies of authorization is of a release that does not tell."))
        let all = try await page { ["a:1", "b:1"].map { Self.question($0) { Self.points() } } }
        #expect(all.contains("Each decision point that was asked lately answers."))
        let gone = try await page { [Self.question("a:1") { throw Fault(.unavailable, "away") }] }
        #expect(gone.contains("The copy of authorization has not answered."))
    }

    /// A peer that never answers, not even when its caller gives up.
    @Sendable private static func hang<Answer: Sendable>() async throws -> Answer {
        await withUnsafeContinuation { (_: UnsafeContinuation<Answer, Never>) in }
    }

    @Test("dashboard §7: a page waits 200 ms for what hangs, shows what is known, and says what did not answer", .tags(.timing))
    func waitsForNobody() async throws {
        #expect(BriefWait<Int>.patience == .milliseconds(200))
        let cluster = ClusterView(
            failingDecisionPoints: { [Self.question("a:1") { Self.points(Self.failing("NorthCable", 5)) }, Self.question("b:1", Self.hang)] },
            returns: { [Self.question("a:1", Self.hang)] })
        let console = ConsoleFixture(.operator, cluster: cluster)
        console.gateway.operations.listSignInReports.answer { _, _ in try await Self.hang() }
        console.gateway.operations.listScheduledSignIns.answer { _, _ in try await Self.hang() }
        console.gateway.operations.listUpstreamStates.answer { _, _ in try await Self.hang() }
        console.gateway.administration.listVersions.answer { _, _ in try await Self.hang() }
        // The best of some: this machine has other work.
        var best = Duration.seconds(60)
        var page = ""
        for _ in 0..<5 {
            let begun = ContinuousClock.now
            page = try await console.get("").text
            best = min(best, begun.duration(to: .now))
        }
        #expect(best < .milliseconds(300) && best >= .milliseconds(190), "\(best)")
        #expect(page.contains(">NorthCable<") && page.contains("1 of 2 copies of authorization has not answered."))
        #expect(page.contains("The copy of authentication has not answered.") && page.contains("The authentication service does not answer"))
        #expect(page.contains("The configuration service has not answered yet"))
    }

    @Test("an answer that came too late for its page is on the next one, and nobody asks again while one is awaited")
    func keepsLateAnswers() async throws {
        let wait = BriefWait<Int>()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let asked = Mutex(0)
        let slow: @Sendable () async throws -> Int = {
            asked.withLock { $0 += 1 }
            for await _ in opened {}
            return 7
        }
        guard case .late(nil) = await wait.answer(within: .milliseconds(1), slow) else {
            Issue.record("nothing is known yet")
            return
        }
        guard case .late(nil) = await wait.answer(within: .milliseconds(1), slow) else {
            Issue.record("still nothing")
            return
        }
        #expect(asked.withLock { $0 } == 1)
        open.finish()
        // It may still be on its way to the memory.
        var found: Int?
        while found == nil { found = await wait.answer(within: .milliseconds(1)) { try await Self.hang() }.value }
        #expect(found == 7)
        let other = BriefWait<Int>()
        guard case .known(3) = await other.answer({ 3 }) else {
            Issue.record("it answers at once")
            return
        }
        guard case .late(3) = await other.answer(within: .milliseconds(1), { try await Self.hang() }) else {
            Issue.record("the former")
            return
        }
    }

    @Test("services without a serving copy are named with the reasons of their copies, as the gateway's own watch has them")
    func services() async throws {
        let cluster = ClusterView(peers: {
            [
                ClusterView.Peer(name: "config", copies: [ClusterView.Copy(address: "a:1", isServing: true)]),
                ClusterView.Peer(
                    name: "authorization",
                    copies: [
                        ClusterView.Copy(address: "b:1", isServing: false, reason: "catalogue: <none>"),
                        ClusterView.Copy(address: "b:2", isServing: false),
                    ]),
                ClusterView.Peer(
                    name: "authentication",
                    copies: [ClusterView.Copy(address: "c:1", isServing: true), ClusterView.Copy(address: "c:2", isServing: false)]),
            ]
        })
        let page = try await ConsoleFixture(.operator, cluster: cluster).get("").text
        #expect(page.contains(#"<span class="tag bad">No copy serves.</span>"#) && page.contains("catalogue: &lt;none&gt;"))
        #expect(page.contains(#"<span class="tag warn">1 of 2 copies serve.</span>"#) && page.contains("there is no connection to it"))
        #expect(!page.contains(#"data-label="Service">config<"#))
        let well = ClusterView(peers: { [ClusterView.Peer(name: "config", copies: [ClusterView.Copy(address: "a:1", isServing: true)])] })
        #expect(try await ConsoleFixture(.operator, cluster: well).get("").text.contains("Each of the 1 services serves, with 1 copies in all"))
    }

    @Test("certificates of services, of this gateway and of the catalogue that end within 30 days are named, the first to end first")
    func certificates() async throws {
        let clock = ManualClock()
        func end(_ use: String, _ days: Int64) -> CertificateEnd {
            CertificateEnd(use: use, endsAtMilliseconds: UInt64((clock.now() + .seconds(days * 86_400)).milliseconds))
        }
        let (told, own) = ([end("wire", 12), end("late", 31)], [end("https", -1)])
        let cluster = ClusterView(
            peers: { [ClusterView.Peer(name: "config", copies: [ClusterView.Copy(address: "a:1", isServing: true, certificates: told)])] },
            ownCertificates: { own })
        let console = ConsoleFixture(.operator, cluster: cluster, wall: clock)
        let validity = CertificateValidity(notBefore: clock.now() - .seconds(10), notAfter: clock.now() + .seconds(5 * 86_400))
        let pinned = try CertifiedKey.selfSigned(commonName: "idp", validity: validity).certificate.der
        var configuration = DemoCatalogue.configuration
        configuration.mvpds[1].signIn = .saml(SamlEndpoint(ssoURL: "https://idp.example/sso", signingCertificates: [pinned, [1, 2, 3]]))
        console.gateway.catalogue.publish(configuration)
        let page = try await console.get("").text
        let uses = page.matches(of: /data-label="Use"><bdi>([\w ]+)</).map { String($0.1) }
        #expect(uses == ["https", "signs answers", "wire"])
        #expect(page.contains("It has ended.") && page.contains("It ends in 5 days.") && page.contains("config at a:1"))
        #expect(page.contains(#"<a href="/console/mvpds/LakeTel"><bdi>LakeTel</bdi></a>"#))
        let none = try await ConsoleFixture(.operator, wall: clock).get("").text
        #expect(none.contains("None of the services and of the catalogue ends within 30 days."))
    }

    @Test("each reason that our checks give is a sentence, and an unknown one is told as it is", arguments: RejectionReason.allCases)
    func saysWhy(reason: RejectionReason) {
        let sentence = SignInReasonText.sentence(reason.rawValue)
        #expect(sentence.hasSuffix(".") && !sentence.contains("“") && sentence.contains(" "), "\(reason)")
        #expect(SignInReasonText.sentence("new.reason") == "The sign-in ended with “new.reason”.")
    }
}
