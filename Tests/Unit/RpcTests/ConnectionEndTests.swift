import ContractRuntime
import Contracts
import Faults
import Rpc
import Testing
import Transport
import Frames

extension RpcTests {
    /// The messages for an operator when a peer is reachable but cannot be used.
    @Suite struct ConnectionEndTests {
        @Test func namesTheVersionThatThePeerSpeaks() async throws {
            let end = try #require(try await cause(.speaking(version: 2)) as? ConnectionEnd)
            #expect(end.code == "unsupported_version" && !end.isByPeer)
            #expect("\(end)".contains("Protocol version 2; this side speaks 1"))
        }

        @Test(arguments: [GoAwayCode.unsupportedVersion, .tooManyConnections])
        func namesWhyThePeerLeaves(_ code: GoAwayCode) async throws {
            let end = try #require(try await cause(.refusing(code, "Not here.")) as? ConnectionEnd)
            #expect(end.code == code.rawValue && end.message == "Not here." && end.isByPeer)
        }

        @Test func namesTheCertificateOfAnother() async throws {
            let error = try #require(try await cause(.breaking, name: "other.boxoffice") as? TlsError)
            #expect(error.code == .wrongPeerName)
        }

        private func cause(_ behaviour: BreakingServer.Behaviour, name: String = TestServer.name) async throws -> (any Error)? {
            let server = try await BreakingServer(name: name, behaviour: behaviour)
            let client = TestServer.client(of: [server.address], identity: try server.identities.identity("client.boxoffice"))
            let fault = await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            await client.shutDown()
            return fault?.cause
        }
    }
}
