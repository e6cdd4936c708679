import TestIdentities
import ContractRuntime
import Contracts
import Cryptography
import Faults
import NIOCore
import NIOPosix
import Rpc
import Testing
import Transport
import Frames

extension RpcTests {
    /// The input of a broken or hostile peer; each leaves the server serving others.
    @Suite struct BadInputTests {
        @Test func refusesMalformedFrame() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            peer.send(bytes: [0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff])
            #expect(await peer.farewell()?.code == "protocol_error")
            #expect(try await server.stillServes())
        }

        @Test func refusesFrameOfNoBytes() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            peer.send(bytes: [0, 0, 0, 0])
            #expect(await peer.farewell()?.code == "protocol_error")
            #expect(try await server.stillServes())
        }

        @Test func refusesOversizedFrameByItsLengthAlone() async throws {
            let server = try await TestServer { $0.limits.frameBytes = 64 * 1024 }
            let peer = try await server.raw()
            try peer.sayHello()
            peer.send(bytes: [0, 1, 0, 1])
            #expect(await peer.farewell()?.code == "frame_too_large")
            #expect(try await server.stillServes())
        }

        @Test("before its hello a peer may send little: it is refused from the length alone")
        func refusesLargeFrameBeforeTheHello() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            peer.send(bytes: [0, 0, 0x10, 1])
            #expect(await peer.farewell()?.code == "frame_too_large")
            #expect(try await server.stillServes())
        }

        @Test("after its hello it may send what the server's own hello says")
        func takesLargeFrameAfterTheHello() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            let payload = try EchoMessage(content: [UInt8](repeating: 7, count: 1 << 20)).serialized()
            try peer.send(.hello(RawPeer.hello), .request(Request(callID: 1, service: DiagnosticsMethods.service, method: "Echo", payload: payload)))
            #expect(await peer.next().map { if case .response = $0 { true } else { false } } == true)
        }

        @Test func refusesRequestBeforeTheHello() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.send(.request(Request(callID: 1, service: DiagnosticsMethods.service, method: "Echo")))
            #expect(await peer.farewell()?.code == "protocol_error")
            #expect(try await server.stillServes())
        }

        @Test func refusesOtherProtocolVersion() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.send(.hello(Hello(protocolVersion: 2, maxFrameBytes: 1 << 20)))
            #expect(await peer.farewell()?.code == "unsupported_version")
            #expect(try await server.stillServes())
        }

        @Test func closesConnectionWithoutHello() async throws {
            let server = try await TestServer { $0.limits.helloTime = .milliseconds(100) }
            let peer = try await server.raw()
            #expect(await peer.farewell()?.code == "protocol_error")
            #expect(try await server.stillServes())
        }

        @Test func takesFramesInPieces() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            let request = Request(
                callID: 1, service: DiagnosticsMethods.service, method: "Echo", payload: try EchoMessage(content: [9]).serialized())
            for byte in try FrameEncoder.encoded(Frame(kind: .request(request))) { peer.send(bytes: [byte]) }
            let response = try #require(await peer.response())
            guard case .payload(let payload)? = response.outcome else { return #expect(Bool(false), "a fault") }
            #expect(try EchoMessage(serialized: payload).content == [9])
        }

        @Test func answersMessageThatDoesNotDecode() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            for (id, method) in [(1, (DiagnosticsMethods.service, "Echo")), (2, (TestServer.service, "Read"))] as [(UInt64, (String, String))] {
                try peer.send(.request(Request(callID: id, service: method.0, method: method.1, payload: [0xff])))
                let response = try #require(await peer.response())
                #expect(response.callID == id)
                #expect(response.fault?.code == "invalid_message")
            }
            #expect(try await server.stillServes())
        }

        @Test func answersUnknownServiceAndMethod() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let unknown = UnaryMethod<EchoMessage, EchoMessage>(service: "boxoffice.none.v1.None", name: "Echo", idempotency: .noSideEffects)
            #expect(await fault { try await client.call(unknown, EchoMessage(), context: CallContext()) }?.code == .unimplemented)
            #expect(await fault { try await client.call(TestOperations.absent, EchoMessage(), context: CallContext()) }?.code == .unimplemented)
            #expect(try await server.stillServes())
        }

        @Test func refusesCallerThatIsNotOnTheList() async throws {
            let server = try await TestServer(
                allow: AllowList([TestServer.service: ["client.boxoffice"], DiagnosticsMethods.service: ["client.boxoffice"]]))
            let stranger = try server.client("stranger.boxoffice")
            #expect(await fault { try await stranger.call(TestOperations.note, EchoMessage(), context: CallContext()) }?.code == .permissionDenied)
            #expect(
                await fault { try await stranger.call(DiagnosticsMethods.echo, EchoMessage(), context: CallContext()) }?.code == .permissionDenied)
            #expect(server.operations.current.begun == 0)
            #expect(try await server.stillServes())
        }

        @Test func emptyListRefusesEveryone() async throws {
            let server = try await TestServer(allow: AllowList([TestServer.service: [], "boxoffice.other.v1.Other": ["client.boxoffice"]]))
            let client = try server.client()
            #expect(await fault { try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }?.code == .permissionDenied)
            #expect(server.operations.current.begun == 0)
            #expect(try await server.stillServes())
        }

        @Test func absentListRefusesEveryone() async throws {
            let server = try await TestServer(allow: AllowList())
            let client = try server.client()
            #expect(await fault { try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }?.code == .permissionDenied)
            #expect(await fault { try await client.call(DiagnosticsMethods.echo, EchoMessage(), context: CallContext()) }?.code == .permissionDenied)
        }

        @Test func refusesClientCertificateOfAnotherAuthority() async throws {
            let server = try await TestServer()
            let strangers = try TestIdentities()
            try strangers.issue("client.boxoffice", names: ["client.boxoffice"])
            let files = TlsFiles(
                certificate: strangers.path("client.boxoffice.crt"), key: strangers.path("client.boxoffice.key"),
                trustAnchors: server.identities.path("ca.crt"))
            let client = TestServer.client(of: [server.address], identity: try TlsIdentity(files: files))
            #expect(await fault { try await client.call(DiagnosticsMethods.echo, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            await client.shutDown()
            #expect(try await server.stillServes())
        }

        @Test func clientRefusesServerOfAnotherAuthority() async throws {
            let server = try await TestServer()
            let client = TestServer.client(of: [server.address], identity: try TestIdentities().identity("client.boxoffice"))
            let fault = await fault { try await client.call(DiagnosticsMethods.echo, EchoMessage(), context: CallContext()) }
            #expect(fault?.code == .unavailable)
            #expect((fault?.cause as? TlsError)?.code == .untrustedPeer)
            await client.shutDown()
            #expect(try await server.stillServes())
        }

        @Test func clientRefusesServerOfAnotherName() async throws {
            let server = try await TestServer()
            let client = try server.client { $0.peerName = "other.boxoffice" }
            let fault = await fault { try await client.call(DiagnosticsMethods.echo, EchoMessage(), context: CallContext()) }
            #expect(fault?.code == .unavailable)
            #expect((fault?.cause as? TlsError)?.code == .wrongPeerName)
            await client.shutDown()
            #expect(try await server.stillServes())
        }

        @Test func closesHalfOpenHandshake() async throws {
            let server = try await TestServer { $0.limits.handshakeTime = .milliseconds(100) }
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: server.address.host, port: server.address.port).get()
            channel.writeAndFlush(ByteBuffer(bytes: [22, 3, 1]), promise: nil)
            try await channel.closeFuture.get()
            #expect(try await eventually { server.server.connectionCount == 0 })
            #expect(try await server.stillServes())
        }

        @Test func dropsSlowReader() async throws {
            let server = try await TestServer {
                $0.limits.outboundHighWaterMark = 64 * 1024
                $0.limits.slowReaderTime = .milliseconds(200)
            }
            let peer = try await server.raw()
            try peer.sayHello()
            try await peer.stopReading()
            let payload = try EchoMessage(content: [UInt8](repeating: 1, count: 64 * 1024)).serialized()
            for id in 1...1000 {
                try peer.send(.request(Request(callID: UInt64(id), service: DiagnosticsMethods.service, method: "Echo", payload: payload)))
            }
            #expect(try await eventually { server.server.connectionCount == 0 })
            #expect(try await server.stillServes())
            peer.close()
        }

        @Test func dropsPeerThatLetsTooMuchPileUp() async throws {
            let server = try await TestServer {
                $0.limits.outboundHighWaterMark = 64 * 1024
                $0.limits.outboundBytes = 1024 * 1024
                $0.limits.slowReaderTime = .seconds(600)
                $0.limits.callsPerConnection = 1000
            }
            let peer = try await server.raw()
            try peer.sayHello()
            try await peer.stopReading()
            let payload = try EchoMessage(content: [UInt8](repeating: 1, count: 64 * 1024)).serialized()
            for id in 1...200 {
                try peer.send(.request(Request(callID: UInt64(id), service: TestServer.service, method: "Wait", payload: payload)))
            }
            #expect(try await eventually { server.operations.current.begun == 200 })
            server.operations.open()
            #expect(try await eventually { server.server.connectionCount == 0 })
            #expect(try await server.stillServes())
            peer.close()
        }
    }
}

extension Response {
    var fault: WireFault? {
        if case .fault(let fault)? = outcome { fault } else { nil }
    }
}
