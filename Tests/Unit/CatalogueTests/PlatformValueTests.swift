import Catalogue
import Contracts
import Testing

@Suite("Values by platform")
struct PlatformValueTests {
    /// The source of a session's time to live, and its value.
    struct Row: Sendable, CustomTestStringConvertible {
        var mvpd: UInt32 = 0
        var mvpdScopes: [PlatformScope: UInt32] = [:]
        var integration: UInt32 = 0
        var integrationScopes: [PlatformScope: UInt32] = [:]
        let platform: Platform?
        let expected: UInt32
        let source: String
        var testDescription: String { "\(platform.map { "\($0)" } ?? "no platform") → \(expected) of \(source)" }
    }

    @Test(
        "dashboard §3: the last level that sets a value wins",
        arguments: [
            Row(platform: .roku, expected: 2_592_000, source: "default"),
            Row(mvpd: 100, platform: .roku, expected: 100, source: "mvpd"),
            Row(mvpd: 100, mvpdScopes: [.all: 101], platform: nil, expected: 101, source: "mvpd:all"),
            Row(mvpd: 100, mvpdScopes: [.all: 101, .tv: 102], platform: .roku, expected: 102, source: "mvpd:tv"),
            Row(mvpd: 100, mvpdScopes: [.roku: 103, .all: 101, .tv: 102], platform: .roku, expected: 103, source: "mvpd:roku"),
            Row(mvpd: 100, mvpdScopes: [.roku: 103], integration: 200, platform: .roku, expected: 200, source: "integration"),
            Row(integration: 200, integrationScopes: [.all: 201], platform: .desktop, expected: 201, source: "integration:all"),
            Row(integration: 200, integrationScopes: [.tv: 202, .all: 201], platform: .otherTv, expected: 202, source: "integration:tv"),
            Row(integrationScopes: [.roku: 203, .tv: 202], platform: .roku, expected: 203, source: "integration:roku"),
            Row(integrationScopes: [.roku: 203, .tv: 202], platform: .tvos, expected: 202, source: "integration:tv"),
            Row(integrationScopes: [.roku: 203, .tv: 202], platform: .ios, expected: 2_592_000, source: "default"),
            Row(integrationScopes: [.mobile: 204], platform: .android, expected: 204, source: "integration:mobile"),
            Row(integrationScopes: [.mobile: 204, .android: 205], platform: .otherMobile, expected: 204, source: "integration:mobile"),
            Row(integrationScopes: [.unidentified: 206, .all: 201], platform: .unknown, expected: 206, source: "integration:unidentified"),
            Row(integrationScopes: [.unidentified: 206, .all: 201], platform: nil, expected: 201, source: "integration:all"),
        ])
    func precedence(row: Row) throws {
        let integration = Integration(
            requestorID: "ACME1", mvpdID: "NorthCable", enabled: true, authnTtlSeconds: row.integration,
            platformOverrides: row.integrationScopes.map { PlatformOverride(scope: $0.key, authnTtlSeconds: $0.value) })
        let mvpd = Mvpd(
            id: "NorthCable", authnTtlSeconds: row.mvpd,
            platformOverrides: row.mvpdScopes.map { PlatformOverride(scope: $0.key, authnTtlSeconds: $0.value) })
        let catalogue = Catalogue(Configuration(requestors: [Requestor(id: "ACME1")], mvpds: [mvpd], integrations: [integration]))
        let pair = try catalogue.requireIntegration(requestor: "ACME1", mvpd: "NorthCable", platform: row.platform)
        #expect(Catalogue.authnLifetime(pair.integration, pair.mvpd) == .seconds(Int64(row.expected)))
        let listed = try #require(catalogue.activeIntegrations(requestor: "ACME1", platform: row.platform).first)
        #expect(Catalogue.authnLifetime(listed.integration, listed.mvpd) == .seconds(Int64(row.expected)))
        let effective = Catalogue.effective(integration, mvpd, scope: PlatformScope(row.platform)).first { $0.name == "authnTtl" }
        #expect(effective?.value == .number(row.expected))
        #expect(effective?.source.description == row.source)
    }

    @Test("dashboard #16: a value on Roku that is taken away leaves the inherited one, with its source")
    func inheritedAgain() {
        var integration = Integration(authnTtlSeconds: 3600, platformOverrides: [PlatformOverride(scope: .roku, authnTtlSeconds: 600)])
        let mvpd = Mvpd(authnTtlSeconds: 7200)
        #expect(Self.property("authnTtl", integration, mvpd, .roku) == "number(600) integration:roku")
        integration.platformOverrides = []
        #expect(Self.property("authnTtl", integration, mvpd, .roku) == "number(3600) integration")
        integration.authnTtlSeconds = 0
        #expect(Self.property("authnTtl", integration, mvpd, .roku) == "number(7200) mvpd")
    }

    @Test("dashboard #18: a category's value reaches its platforms without an own one, never those of another category")
    func category() {
        let integration = Integration(
            platformOverrides: [PlatformOverride(scope: .tv, authzTtlSeconds: 60), PlatformOverride(scope: .roku, authzTtlSeconds: 61)])
        let mvpd = Mvpd(authzTtlSeconds: 59)
        let values = [PlatformScope.tv, .tvos, .fireTv, .roku, .mobile, .ios, .android, .desktop, .unidentified, .all].map { scope in
            Catalogue.authzLifetime(
                Catalogue.resolved(integration, mvpd, scope: scope).integration, Catalogue.resolved(integration, mvpd, scope: scope).mvpd)
        }
        #expect(values == [60, 60, 60, 61, 59, 59, 59, 59, 59, 59].map { .seconds($0) })
    }

    @Test("every property of an override takes effect, and its source is told")
    func everyProperty() {
        let override = PlatformOverride(
            scope: .tvos, authnTtlSeconds: 61, authzTtlSeconds: 62, hbaAuthnTtlSeconds: 63, platformSso: .off, enforcePlatformPermissions: .on,
            authPerAggregator: .on, passiveAuthn: .on, preflightMaxResources: 9, displayName: "On Apple TV", logoURL: "https://logo.example/tv",
            iframeRequired: .on, iframeWidth: 300, iframeHeight: 200)
        let integration = Integration(platformSsoEnabled: true, platformOverrides: [override])
        let mvpd = Mvpd(displayName: "North", platforms: [PlatformSettings(platform: .tvos, enablePlatformServices: true)])
        let (pair, record) = Catalogue.resolved(integration, mvpd, scope: .tvos)
        #expect(pair == Integration(authnTtlSeconds: 61, authzTtlSeconds: 62, hbaAuthnTtlSeconds: 63, preflightMaxResources: 9))
        #expect(
            record
                == Mvpd(
                    displayName: "On Apple TV", logoURL: "https://logo.example/tv", iframeRequired: true, iframeWidth: 300, iframeHeight: 200,
                    authPerAggregator: true, passiveAuthnEnabled: true,
                    platforms: [PlatformSettings(platform: .tvos, enablePlatformServices: true, enforcePlatformPermissions: true)]))
        #expect(Catalogue.preflightMaxResources(pair, record) == 9)
        #expect(Catalogue.resolved(pair, record, scope: .tvos) == (pair, record))
        let effective = Catalogue.effective(integration, mvpd, scope: .tvos)
        #expect(effective.count == 13)
        #expect(effective.allSatisfy { $0.source == .integrationPlatform(.tvos) })
        #expect(Catalogue.resolved(integration, mvpd, scope: .ios).integration.platformSsoEnabled)
    }

    @Test("a pair that was resolved before a device was known has that device's values afterwards")
    func resolvedTwice() {
        let integration = Integration(
            platformOverrides: [
                PlatformOverride(scope: .roku, authnTtlSeconds: 61), PlatformOverride(scope: .all, authnTtlSeconds: 62, displayName: "Everywhere"),
            ])
        let mvpd = Mvpd(
            displayName: "North", platformOverrides: [PlatformOverride(scope: .roku, authzTtlSeconds: 63, displayName: "North on Roku")])
        let general = Catalogue.resolved(integration, mvpd, scope: .all)
        let later = Catalogue.resolved(general.integration, general.mvpd, scope: .roku)
        #expect(later == Catalogue.resolved(integration, mvpd, scope: .roku))
        #expect(later.integration.authnTtlSeconds == 61 && later.mvpd.authzTtlSeconds == 63 && later.mvpd.displayName == "Everywhere")
    }

    @Test("dashboard #17: what an MVPD's record must have can be replaced, not taken away")
    func mandatory() {
        let mvpd = Mvpd(displayName: "North", authzTtlSeconds: 60)
        let names = Catalogue.effective(Integration(), mvpd, scope: .all).filter(\.isMandatory).map(\.name)
        #expect(names == ["authzTtl", "displayName"])
        #expect(!Catalogue.effective(Integration(authzTtlSeconds: 61), mvpd, scope: .all).contains { $0.name == "authzTtl" && $0.isMandatory })
    }

    @Test("a preauthorization's limit is the integration's, else the MVPD's, else 5")
    func preflightLimit() {
        let mvpd = Mvpd(authorization: AuthorizationEndpoint(preflightMaxResources: 8))
        #expect(Catalogue.preflightMaxResources(Integration(preflightMaxResources: 7), mvpd) == 7)
        #expect(Catalogue.preflightMaxResources(Integration(), mvpd) == 8)
        #expect(Catalogue.preflightMaxResources(Integration(), Mvpd()) == 5)
    }

    @Test(
        "a device belongs to the platform that it says",
        arguments: [
            (DeviceInformation(model: "AppleTV6,2", osName: "tvOS"), Platform.tvos),
            (DeviceInformation(model: "iPhone", osName: "iOS"), .ios),
            (DeviceInformation(model: "AppleTV", osName: "iOS", osFamily: "tvOS"), .tvos),
            (DeviceInformation(model: "3800X", osName: "Roku OS"), .roku),
            (DeviceInformation(model: "AFTT", osName: "Android"), .fireTv),
            (DeviceInformation(type: "Tablet", model: "KFMAWI", manufacturer: "Amazon", osName: "Android"), .android),
            (DeviceInformation(type: "TV", model: "Bravia", osName: "Android"), .otherTv),
            (DeviceInformation(type: "MobilePhone", model: "Pixel", osName: "Android"), .android),
            (DeviceInformation(model: "PC", osName: "Windows"), .desktop),
            (DeviceInformation(type: "GamesConsole", model: "Box", osName: "Windows"), .otherTv),
            (DeviceInformation(type: "TV", model: "OLED", osName: "webOS"), .otherTv),
            (DeviceInformation(model: "TV", osName: "Unknown", osFamily: "tvOS"), .tvos),
            (DeviceInformation(type: "Unknown", model: "thing", osName: "Unknown"), .unknown),
        ])
    func platforms(device: DeviceInformation, platform: Platform) { #expect(device.platform == platform) }

    private static func property(_ name: String, _ integration: Integration, _ mvpd: Mvpd, _ scope: PlatformScope) -> String? {
        Catalogue.effective(integration, mvpd, scope: scope).first { $0.name == name }.map { "\($0.value) \($0.source)" }
    }
}
