internal import SandboxKit

/// The people and things that exist at the stand-in vendor.
struct VendorCatalogue: Sendable {
    /// Most entries of each kind.
    static let limit = 1000

    /// A channel or brand.
    struct ServiceProvider: Sendable, Codable, Equatable {
        let id: String
        var name: String
        /// Listed in the configuration.
        var domains: [String]
        /// Further hosts to which a login may lead back: this machine, for tests.
        var redirectHosts: [String]
    }

    /// A TV provider.
    struct Mvpd: Sendable, Codable, Equatable {
        /// A free trial in place of a login (rest-v2 §5 L).
        struct TempPass: Sendable, Codable, Equatable {
            /// From the first play.
            var seconds: Int
            /// Different resources of a promotional one; absent: a basic one.
            var resources: Int?
        }

        let id: String
        var displayName: String
        var logoUrl: String?
        /// True when a logout leads a browser to the MVPD (rest-v2 §2.11).
        var hasLogout: Bool
        var tempPass: TempPass?
        var isProxy: Bool
        /// Stands in media tokens where the MVPD is reached through another.
        var proxyMvpd: String?
        /// The id that Apple's platform has for it.
        var platformMappingId: String?
        /// `SUPPORTED` or `PICKER`.
        var boardingStatus: String?
    }

    /// The integration of a service provider with an MVPD.
    struct Integration: Sendable, Codable, Equatable {
        let serviceProvider: String
        let mvpd: String
        var isEnabled = true
        /// Life of a profile, of a permit, of a media token.
        var authnSeconds = 30 * 86_400
        var authzSeconds = 86_400
        var mediaTokenSeconds = 420
        /// Resources in one request.
        var authorizeLimit = 1
        var preauthorizeLimit = 5
    }

    private(set) var serviceProviders: [ServiceProvider]
    /// In the order of the configuration.
    private(set) var mvpds: [Mvpd]
    private(set) var integrations: [Integration]

    func serviceProvider(_ id: String) -> ServiceProvider? { serviceProviders.first { $0.id == id } }

    func mvpd(_ id: String) -> Mvpd? { mvpds.first { $0.id == id } }

    /// The MVPD of a platform's own id.
    func mvpd(platformMappingID id: String) -> Mvpd? { mvpds.first { $0.platformMappingId == id } }

    /// Enabled or not.
    func integration(_ serviceProvider: String, _ mvpd: String) -> Integration? {
        integrations.first { $0.mvpd == mvpd && $0.serviceProvider == serviceProvider }
    }

    /// The MVPDs that a service provider offers.
    func offered(by serviceProvider: String) -> [Mvpd] { mvpds.filter { integration(serviceProvider, $0.id)?.isEnabled == true } }

    mutating func set(_ serviceProvider: ServiceProvider) throws(SettingsFault) {
        try Self.set(serviceProvider, in: &serviceProviders, "serviceProviders") { $0.id == serviceProvider.id }
    }

    mutating func set(_ mvpd: Mvpd) throws(SettingsFault) { try Self.set(mvpd, in: &mvpds, "mvpds") { $0.id == mvpd.id } }

    mutating func set(_ integration: Integration) throws(SettingsFault) {
        guard serviceProvider(integration.serviceProvider) != nil else { throw SettingsFault(key: "serviceProvider", problem: "is unknown") }
        guard mvpd(integration.mvpd) != nil else { throw SettingsFault(key: "mvpd", problem: "is unknown") }
        try Self.set(integration, in: &integrations, "integrations") {
            $0.serviceProvider == integration.serviceProvider && $0.mvpd == integration.mvpd
        }
    }

    private static func set<Entry>(
        _ entry: Entry, in entries: inout [Entry], _ name: String, where isSame: (Entry) -> Bool
    ) throws(SettingsFault) {
        if let index = entries.firstIndex(where: isSame) {
            entries[index] = entry
        } else if entries.count < limit {
            entries.append(entry)
        } else {
            throw SettingsFault(key: name, problem: "are \(limit) already")
        }
    }
}

extension VendorCatalogue {
    /// Two channels and five MVPDs: one with a logout page, one without, a basic and a promotional free trial, and one that many know.
    static let demo = VendorCatalogue(
        serviceProviders: [
            ServiceProvider(id: "ACME1", name: "Acme One", domains: ["acme.example"], redirectHosts: ["127.0.0.1", "localhost"]),
            ServiceProvider(id: "BRAVOUP", name: "Bravo", domains: ["bravo.example"], redirectHosts: ["127.0.0.1", "localhost"]),
        ],
        mvpds: [
            Mvpd(
                id: "CoastCable", displayName: "Coast Cable", hasLogout: true, isProxy: false, platformMappingId: "coast-cable",
                boardingStatus: "SUPPORTED"),
            Mvpd(
                id: "HillTel", displayName: "Hill Tel", hasLogout: false, isProxy: false, platformMappingId: "hill-tel", boardingStatus: "PICKER"),
            Mvpd(id: "TrialUp", displayName: "Trial", hasLogout: false, tempPass: Mvpd.TempPass(seconds: 600), isProxy: false),
            Mvpd(id: "PromoUp", displayName: "Promotion", hasLogout: false, tempPass: Mvpd.TempPass(seconds: 3600, resources: 2), isProxy: false),
            Mvpd(id: "NorthCable", displayName: "North Cable", hasLogout: true, isProxy: false),
        ],
        integrations: ["ACME1", "BRAVOUP"].flatMap { serviceProvider in
            ["CoastCable", "HillTel", "TrialUp", "PromoUp", "NorthCable"].map { Integration(serviceProvider: serviceProvider, mvpd: $0) }
        })
}
