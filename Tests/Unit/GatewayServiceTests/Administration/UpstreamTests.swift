internal import BridgeClient
internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The operators' questions to upstreams, and requests that come back.
@Suite struct UpstreamTests {
    let gateway = TestGateway()

    init() {
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        gateway.operations.checkUpstream.answer(
            with: UpstreamCheck(
                steps: [
                    UpstreamCheckStep(
                        step: 2, title: "it registers", outcome: .failed, expected: "a client", seen: "400", advice: "Get another.", trace: "v-1")
                ], requestor: "ACME1", isUnreachable: true))
        gateway.operations.resetUpstreamClient.answer(with: ResetUpstreamClientResponse(wasKnown: true, sessions: 2))
        gateway.operations.readUpstreamList.answer(
            with: UpstreamList(
                upstream: "vendor", serviceProvider: "SP",
                entries: [UpstreamListEntry(id: "M", displayName: "Em", boardingStatus: "PICKER", platformMappingID: "p")], domains: ["acme.example"],
                droppedIDs: ["a b"]))
    }

    private var checks: [CheckAdministratorRequest] { gateway.administration.checkAdministrator.requests }

    @Test("bridge B104: a part of a check is allowed, recorded and made, in this order")
    func checksUpstreams() async throws {
        let reply = try await gateway.administer(.post, "/upstreams/vendor/check", #"{"part":"client","requestor":"ACME1"}"#)
        #expect(
            reply.text == #"{"requestor":"ACME1","steps":[{"step":2,"title":"it registers","outcome":"failed","expected":"a client","seen":"400","#
                + #""advice":"Get another.","upstreamTrace":"v-1"}],"unreachable":true,"open":false,"browserAddress":null,"ticket":null}"#)
        #expect(checks.map(\.permission) == [.upstream] && checks.map(\.subject) == ["vendor checked, client"])
        #expect(gateway.operations.checkUpstream.requests == [CheckUpstreamRequest(upstream: "vendor", requestor: "ACME1", part: .client)])
        let wrong = try await gateway.administer(.post, "/upstreams/vendor/check", #"{"part":"everything"}"#)
        #expect(wrong.status == 422 && wrong.text.contains(#""field":"part""#))
    }

    @Test("bridge B105: an upstream's offers are those of the channel that uses it")
    func listsOffers() async throws {
        let reply = try await gateway.administer(.get, "/upstreams/vendor/offers?requestor=ACME1&platform=tvos")
        #expect(reply.status == 200 && reply.text.contains(#""id":"M","displayName":"Em","logoUrl":null,"tempPass":false,"boardingStatus":"PICKER""#))
        #expect(reply.text.contains(#""domains":["acme.example"],"leftOut":["a b"]"#))
        #expect(gateway.operations.readUpstreamList.requests == [ReadUpstreamListRequest(requestor: "ACME1", platform: .tvos)])
        #expect(try await gateway.administer(.get, "/upstreams/other/offers?requestor=ACME1&platform=tvos").status == 404)
        #expect(try await gateway.administer(.get, "/upstreams/vendor/offers?requestor=ACME1&platform=tv").status == 400)
        #expect(try await gateway.administer(.get, "/upstreams/vendor/offers?platform=tvos").status == 400)
        gateway.operations.readUpstreamList.fail(with: Fault(.invalidRequestor, "The requestor is not known."))
        let unknown = try await gateway.administer(.get, "/upstreams/vendor/offers?requestor=X&platform=tvos")
        #expect(unknown.status == 400 && unknown.text.contains("The requestor is not known."))
    }

    @Test("a reset is recorded with the beginning of the device's id; where no client was, nothing is")
    func resets() async throws {
        let reply = try await gateway.administer(.post, "/upstreams/vendor/reset", #"{"device":"dev-7f3a"}"#)
        #expect(reply.status == 200 && reply.text == #"{"sessions":2}"#)
        #expect(checks.map(\.subject) == ["vendor client of the device dev-… reset"])
        gateway.operations.resetUpstreamClient.answer(with: ResetUpstreamClientResponse())
        #expect(try await gateway.administer(.post, "/upstreams/vendor/reset", #"{"device":"dev-7f3a"}"#).status == 404)
        gateway.operations.resetUpstreamClient.fail(with: Fault(.invalidDeviceID, "too long"))
        #expect(try await gateway.administer(.post, "/upstreams/vendor/reset", #"{"device":"dev-7f3a"}"#).status == 400)
    }

    @Test("whoever is no operator reaches no upstream")
    func refuses() async throws {
        gateway.administration.checkAdministrator.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await gateway.administer(.post, "/upstreams/vendor/check", #"{"part":"client"}"#).status == 403)
        #expect(try await gateway.administer(.get, "/upstreams/vendor/offers?requestor=ACME1&platform=tvos").status == 403)
        #expect(try await gateway.administer(.post, "/upstreams/vendor/reset", #"{"device":"d"}"#).status == 403)
        #expect(gateway.operations.checkUpstream.requests.isEmpty && gateway.operations.readUpstreamList.requests.isEmpty)
        #expect(gateway.operations.resetUpstreamClient.requests.isEmpty)
    }

    @Test("bridge §14.1: an upstream is told with how it is now, and without where nobody can say")
    func tellsStates() async throws {
        gateway.administration.getEntity.answer(with: CatalogueEntity(kind: .upstream, id: "vendor", json: #"{"id":"vendor"}"#, etag: "e"))
        gateway.operations.listUpstreamStates.answer(
            with: UpstreamStates(states: [
                UpstreamState(
                    upstream: "vendor", clients: 3, deviceClients: 2, openBreakers: ["session"], callsUnderWay: 1, oldestListAtMilliseconds: 5,
                    openLogouts: 4, clockOffsetMilliseconds: -7,
                    alarms: [UpstreamAlarm(event: "bridge.clock_skew", atMilliseconds: 6, count: 2, details: "d")])
            ]))
        let reply = try await gateway.administer(.get, "/upstreams/vendor")
        #expect(
            reply.text.contains(
                #""state":{"condition":"failing","clients":3,"deviceClients":2,"openBreakers":["session"],"callsUnderWay":1,"oldestListAt":5,"#
                    + #""openLogouts":4,"clockOffsetMs":-7,"alarms":[{"event":"bridge.clock_skew","at":6,"count":2,"details":"d"}]}"#))
        gateway.operations.listUpstreamStates.fail(with: Fault(.unavailable, "away"))
        #expect(try await gateway.administer(.get, "/upstreams/vendor").text.contains(#""state":null"#))
        gateway.administration.getEntity.answer(with: CatalogueEntity(kind: .mvpd, id: "M", json: "{}", etag: "e"))
        #expect(try await !gateway.administer(.get, "/mvpds/M").text.contains("state"))
    }

    @Test("bridge B103: a request that this cluster sent is answered 508 at every address; another cluster's is not")
    func stopsLoops() async throws {
        let own = BridgeVia(origin: "https://tv.example")
        for path in ["/api/v2/ACME1/configuration", "/healthz", "/nothing"] {
            let reply = try await gateway.send(.get, path, [.via: "1.1 proxy, \(own.header)"])
            #expect(reply.status == 508 && reply.text.contains("loop_detected"), "\(path): \(reply.status)")
        }
        let other = BridgeVia(origin: "https://other.example")
        #expect(try await gateway.send(.get, "/healthz", [.via: other.header]).status == 200)
    }
}
