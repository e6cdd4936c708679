internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite("Refused signatures of an address (clients §2)") struct SignatureGuardTests {
    private static let bearer: HTTPFields = [.forwardedFor: "203.0.113.9", .accept: "application/json", .authorization: "Bearer good"]
    private static let signed: HTTPFields = [
        .forwardedFor: "203.0.113.9", .accept: "application/json",
        .authorization: "GET requestor_id=ACME1, nonce=1, signature_method=HMAC-SHA1, request_time=1, request_uri=/authn, public_key=k, signature=s",
    ]
    private static let path = "/api/v1/checkauthn?requestor=ACME1&deviceId=tv-1"

    @Test("sixty-one are refused one by one, the next has to wait; bearers and codes of the same household are served, and so is a neighbour")
    func pause() async throws {
        let clock = SetClock()
        let gateway = TestGateway(trusted: ["127.0.0.1"], throttle: ThrottleSettings(perSecond: 1000, burst: 1000), clock: clock)
        gateway.authentication.getSession.answer { request, _ in
            if request.call?.signedRequest == nil { return Session() }
            throw Fault(.accessDenied, "The signed request is not accepted.")
        }
        try await gateway.exchange(over: .live) { client in
            func status(_ headers: HTTPFields) async throws -> HTTPResponse.Status {
                try await client.execute(uri: Self.path, method: .get, headers: headers) { $0.status }
            }
            for _ in 0...SignatureGuard.burst { try #require(try await status(Self.signed) == .unauthorized) }
            let refused = try await client.execute(uri: Self.path, method: .get, headers: Self.signed) { $0 }
            #expect(refused.status == .tooManyRequests)
            #expect(refused.headers[.retryAfter] == "1")
            #expect(try await status(Self.bearer) == .ok)
            #expect(try await status(Self.signed.with(.forwardedFor, "203.0.113.10")) == .unauthorized)
            clock.advance(by: .seconds(1.1))
            #expect(try await status(Self.signed) == .unauthorized, "one a second is looked at for ever")
        }
    }
}
