import ContractRuntime
import Contracts
import Faults
import Testing

@Suite struct MessageConversionTests {
    @Test func keepsEveryKindOfField() throws {
        var mvpd = Mvpd(id: "NorthCable", displayName: "Nörth Cable", iframeWidth: 640, authPerAggregator: true)
        mvpd.platforms = [PlatformSettings(platform: .tvos, boardingStatus: .supported, requiredMetadataFields: ["userID", ""])]
        mvpd.signIn = .saml(SamlEndpoint(signingCertificates: [[1, 2, 0], []], legacySha1UntilMilliseconds: .max))
        mvpd.authorization = AuthorizationEndpoint(protocol: .xacmlJson, url: "http://x")
        #expect(try Mvpd(serialized: mvpd.serialized()) == mvpd)
    }

    @Test func keepsAnEnumValueFromTheFuture() throws {
        let settings = PlatformSettings(platform: .unrecognized(99))
        #expect(try PlatformSettings(serialized: settings.serialized()).platform == .unrecognized(99))
    }

    @Test func emptyMessageIsNoBytes() throws {
        #expect(try Configuration().serialized() == [])
        #expect(try Configuration(serialized: []) == Configuration())
    }

    @Test("a text with a NUL is refused in both directions")
    func refusesNul() throws {
        #expect(throws: Fault.self) { try Programmer(id: "a\0b").serialized() }
        let wire: [UInt8] = [0x0a, 3, 0x61, 0, 0x62]
        #expect { try Programmer(serialized: wire) } throws: { ($0 as? Fault)?.code == .invalidMessage }
    }

    @Test func refusesTextThatIsNotUtf8() {
        #expect { try Programmer(serialized: [0x0a, 2, 0xc3, 0x28]) } throws: { ($0 as? Fault)?.code == .invalidMessage }
    }

    @Test(arguments: [[0x0a], [0x0a, 5, 0x61], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]] as [[UInt8]])
    func refusesBytesThatAreNoMessage(_ bytes: [UInt8]) {
        #expect { try Programmer(serialized: bytes) } throws: { ($0 as? Fault)?.code == .invalidMessage }
    }

    @Test func skipsUnknownFields() throws {
        var bytes = try Programmer(id: "acme").serialized()
        bytes += [0xf8, 0x06, 7]
        #expect(try Programmer(serialized: bytes) == Programmer(id: "acme"))
    }

    @Test func largeMessageOutgrowsTheStack() throws {
        let configuration = Configuration(programmers: (0..<5000).map { Programmer(id: "p\($0)", name: String(repeating: "n", count: 40)) })
        #expect(try Configuration(serialized: configuration.serialized()) == configuration)
    }
}

@Suite struct DescriptorTests {
    @Test func namesEveryService() {
        let text = String(decoding: ContractDescriptors.fileDescriptorSet.filter { $0 >= 0x20 && $0 < 0x7f }, as: UTF8.self)
        for service in ["Health", "Reflection", "Config", "Authentication", "Sessions", "Authorization"] {
            #expect(text.contains(service))
        }
    }
}

@Suite struct TraceContextTests {
    @Test func survivesItsTextForm() throws {
        let context = TraceContext.random()
        let parsed = try #require(TraceContext(traceparent: context.traceparent))
        #expect(parsed == context)
        #expect(parsed.traceID.count == 32)
    }

    @Test(arguments: [
        "", "00-0-0-0", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra",
    ])
    func refusesWhatTheSpecificationRefuses(_ text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test func acceptsALaterVersionWithMoreFields() {
        #expect(TraceContext(traceparent: "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what") != nil)
    }
}
