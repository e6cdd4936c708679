internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import HTTPTypes
internal import Hummingbird
internal import Testing

/// Providers of an upstream on the second screen (bridge §7.6).
@Suite struct UpstreamChoiceTests {
    private static func configuration(returnOrigin: String) -> Configuration {
        var configuration = DemoCatalogue.configuration
        configuration.upstreams = [BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example")]
        configuration.requestors[0].bridge = RequestorBridge(upstreamID: "vendor", returnOrigin: returnOrigin)
        configuration.mvpds += [Mvpd(id: "CoastCable", displayName: "Coast"), Mvpd(id: "TrialUp", displayName: "Trial"), Mvpd(id: "Gone")]
        configuration.integrations += [("CoastCable", true), ("TrialUp", true), ("Gone", true), ("Shut", false)].map { id, isEnabled in
            Integration(requestorID: "ACME1", mvpdID: id, enabled: isEnabled, bridge: IntegrationBridge())
        }
        return configuration
    }

    private static func gateway(returnOrigin: String = "https://tv.example") -> TestGateway {
        let gateway = TestGateway(configuration: configuration(returnOrigin: returnOrigin))
        gateway.authentication.listBridgedProviders.answer(
            with: BridgedProviders(providers: [
                BridgedProviderEntry(id: "CoastCable", displayName: "Their name"), BridgedProviderEntry(id: "TrialUp", isTemporaryPass: true),
                BridgedProviderEntry(id: "Shut"),
            ]))
        return gateway
    }

    @Test("bridge B47: what upstream offers and a browser can sign in at stands in the list")
    func lists() async throws {
        let page = try await Self.gateway().get("/activate/providers?code=QK7M2XD", [:])
        #expect(page.status == 200 && page.text.contains("mvpd=NorthCable") && page.text.contains("mvpd=CoastCable") && page.text.contains("Coast"))
        for absent in ["TrialUp", "Gone", "Shut"] { #expect(!page.text.contains("mvpd=\(absent)"), "\(absent)") }
    }

    @Test("bridge §7.6: without upstream's list none of its providers is offered, as nobody knows which are trials; ours are, and the page says so")
    func listsWithoutUpstream() async throws {
        let gateway = Self.gateway()
        gateway.authentication.listBridgedProviders.fail(with: Fault(.upstreamUnavailable, "Not now."))
        let page = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(page.status == 200 && page.text.contains("mvpd=NorthCable") && page.text.contains("Some providers cannot be shown at the moment."))
        for absent in ["CoastCable", "TrialUp", "Gone", "Shut"] { #expect(!page.text.contains("mvpd=\(absent)"), "\(absent)") }
        let complete = try await Self.gateway().get("/activate/providers?code=QK7M2XD", [:])
        #expect(!complete.text.contains("Some providers cannot be shown"))
    }

    @Test("bridge §7.6: where upstream's are the only ones, the page asks to come back, with a time")
    func listsNothingWithoutUpstream() async throws {
        var configuration = Self.configuration(returnOrigin: "https://tv.example")
        configuration.integrations.removeAll { $0.bridge == nil }
        let gateway = TestGateway(configuration: configuration)
        gateway.authentication.listBridgedProviders.fail(with: Fault(.upstreamUnavailable, "Not now.", retryAfter: .seconds(7)))
        let page = try await gateway.get("/activate/providers?code=QK7M2XD", [:])
        #expect(page.status == 503 && page.headers[.retryAfter] == "7" && !page.text.contains("mvpd="))
    }

    @Test("bridge §6: our own name and logo of a provider are those for the device's platform")
    func namesByPlatform() async throws {
        var configuration = Self.configuration(returnOrigin: "https://tv.example")
        let index = try #require(configuration.integrations.firstIndex { $0.mvpdID == "CoastCable" })
        configuration.integrations[index].platformOverrides = [
            PlatformOverride(scope: .roku, displayName: "Coast on Roku", logoURL: "https://logo.example/roku.png")
        ]
        let gateway = TestGateway(configuration: configuration)
        gateway.authentication.listBridgedProviders.answer(
            with: BridgedProviders(providers: [BridgedProviderEntry(id: "CoastCable", displayName: "Their name")]))
        // {"model":"x","osName":"Roku OS"}
        let roku = try await gateway.get("/api/v1/config/ACME1.json", [.xDeviceInfo: "eyJtb2RlbCI6IngiLCJvc05hbWUiOiJSb2t1IE9TIn0="])
        #expect(roku.text.contains(#""displayName":"Coast on Roku","logoUrl":"https://logo.example/roku.png""#), "\(roku.text)")
        let other = try await gateway.get("/api/v1/config/ACME1.json", [:])
        #expect(other.text.contains(#""displayName":"Coast""#) && !other.text.contains("Roku"), "\(other.text)")
        #expect(gateway.authentication.listBridgedProviders.requests.map(\.requestor) == ["ACME1", "ACME1"])
    }

    @Test("without a return page of ours a person is sent to the channel's page, and no login begins")
    func sendsElsewhere() async throws {
        let gateway = Self.gateway(returnOrigin: "")
        let page = try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=CoastCable", [:])
        #expect(page.status == 400 && page.text.contains("only on the channel’s own page"))
        #expect(try await gateway.get("/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", [:]).status == 200)
        #expect(try await Self.gateway().get("/activate/sign-in?code=QK7M2XD&mvpd=CoastCable", [:]).status == 200)
    }
}
