internal import CatalogueFiles
internal import Foundation

/// The documents of the catalogue that a vendor's configurations give, and the gaps that they leave for each MVPD.
struct VendorDraft {
    /// Something that no configuration tells, and who has it.
    struct Gap: Equatable, Sendable {
        /// `signIn`, `certificates`, `attributes`, `decisions`, `lifetimes`, `metadataKeys`, `proxy`, `trial`, `boarding`.
        let name: String
        let what: String
        let who: String
    }

    private struct Requestor {
        var name: String
        var domains: [VendorConfiguration.Domain]
    }

    private struct Mvpd {
        let provider: VendorConfiguration.Provider
        var requestors: [String] = []
        var platforms: [[String: Any]] = []
        /// Platforms whose record is not whole, and why.
        var incomplete: [(platform: String, reason: String)] = []
        /// Told without saying for which platform.
        var hasUnplacedBoarding = false
    }

    private static let mvpd = "the MVPD"
    private static let dashboard = "the vendor's dashboard"

    /// An upstream that serves until an MVPD is ready; nil: none.
    let bridge: String?
    /// The owner of the requestors.
    let programmer: String?

    private(set) var requestorIDs: [String] = []
    private(set) var mvpdIDs: [String] = []
    /// Ids that no MVPD can have here.
    private(set) var leftOut: Set<OctetText> = []
    private var requestors: [OctetText: Requestor] = [:]
    private var mvpds: [OctetText: Mvpd] = [:]
    /// The MVPD that a platform knows by an id, by platform and id: no two can share one.
    private var mappings: [OctetText: String] = [:]

    init(bridge: String? = nil, programmer: String? = nil) {
        self.bridge = bridge
        self.programmer = programmer
    }

    /// - Parameter platform: The one for which the vendor answered; nil: not known.
    mutating func take(_ configuration: VendorConfiguration, platform: String?) {
        if requestors[configuration.id] == nil {
            requestorIDs.append(configuration.id)
            requestors[configuration.id] = Requestor(name: configuration.name, domains: [])
        }
        for domain in configuration.domains where requestors[configuration.id]?.domains.contains(where: { $0.name == domain.name }) == false {
            requestors[configuration.id]?.domains.append(domain)
        }
        for provider in configuration.providers {
            guard CatalogueSyntax.isID(provider.id) else {
                leftOut.insert(OctetText(provider.id))
                continue
            }
            if mvpds[provider.id] == nil {
                mvpdIDs.append(provider.id)
                mvpds[provider.id] = Mvpd(provider: provider)
            }
            if mvpds[provider.id]?.requestors.contains(configuration.id) == false { mvpds[provider.id]?.requestors.append(configuration.id) }
            if let boarding = provider.boarding { board(provider.id, boarding, platform) }
        }
    }

    private mutating func board(_ id: String, _ boarding: VendorConfiguration.Boarding, _ platform: String?) {
        guard boarding.saysSomething else { return }
        guard let platform else {
            mvpds[id]?.hasUnplacedBoarding = true
            return
        }
        // Each requestor tells it again.
        guard mvpds[id]?.platforms.contains(where: { $0["platform"] as? String == platform }) == false else { return }
        if let reason = flaw(id, boarding, platform) {
            if mvpds[id]?.incomplete.contains(where: { $0.platform == platform }) == false { mvpds[id]?.incomplete.append((platform, reason)) }
            return
        }
        var block: [String: Any] = ["platform": platform]
        block["boardingStatus"] = boarding.status
        block["platformMappingId"] = boarding.mappingID
        if boarding.isEnabled { block["enablePlatformServices"] = true }
        if boarding.isInPicker { block["displayInPlatformPicker"] = true }
        if boarding.enforcesPermissions { block["enforcePlatformPermissions"] = true }
        if !boarding.metadataFields.isEmpty { block["requiredMetadataFields"] = boarding.metadataFields }
        if let mapping = boarding.mappingID { mappings["\(platform)/\(mapping)"] = id }
        mvpds[id]?.platforms.append(block)
        mvpds[id]?.incomplete.removeAll { $0.platform == platform }
    }

    /// Returns why the catalogue would not take it; nil: it does.
    private func flaw(_ id: String, _ boarding: VendorConfiguration.Boarding, _ platform: String) -> String? {
        if let status = boarding.status {
            guard ["SUPPORTED", "PICKER"].contains(status) else { return "its boardingStatus, which the vendor calls something else" }
            guard boarding.mappingID != nil else { return "its platformMappingId" }
            if status == "SUPPORTED", boarding.metadataFields.isEmpty { return "its requiredMetadataFields" }
        }
        if let mapping = boarding.mappingID, let other = mappings["\(platform)/\(mapping)"], other != id {
            return "a platformMappingId of its own, as \(other) has the same"
        }
        return nil
    }

    // MARK: Documents

    private var programmerID: String { programmer ?? requestorIDs.first ?? "programmer" }

    /// Programmer and requestors; what MVPDs have stands in files of their own.
    /// - Parameter upstream: The vendor's address, for the bridge.
    func catalogue(upstream: String) -> [String: Any] {
        let name = requestors[requestorIDs.first ?? ""]?.name ?? programmerID
        var document: [String: Any] = [
            "programmers": [["id": programmerID, "name": String((programmer ?? name).prefix(80))]],
            "requestors": requestorIDs.map(requestor),
        ]
        if let bridge {
            let client: [String: Any] = ["id": "apps", "statementReference": "\(bridge)-statement", "requestors": "all", "platforms": "all"]
            document["upstreams"] = [["id": bridge, "baseUrl": upstream, "clients": [client]] as [String: Any]]
        }
        return document
    }

    private func requestor(_ id: String) -> [String: Any] {
        let domains = (requestors[id]?.domains ?? []).map { domain -> Any in
            guard domain.isMvpdInitiated else { return domain.name }
            return ["name": domain.name, "mvpdInitiated": true] as [String: Any]
        }
        var entry: [String: Any] = [
            "id": id, "name": String((requestors[id]?.name ?? id).prefix(80)), "programmer": programmerID, "domains": domains,
        ]
        if let bridge { entry["upstream"] = ["upstream": bridge] }
        return entry
    }

    /// One MVPD's entry with its integrations.
    func document(of id: String) -> [String: Any] {
        guard let mvpd = mvpds[id] else { return [:] }
        let hasSso = mvpd.platforms.contains { $0["enablePlatformServices"] as? Bool == true }
        let integrations = mvpd.requestors.map { requestor -> [String: Any] in
            var integration: [String: Any] = ["requestor": requestor, "mvpd": id]
            if bridge != nil {
                integration["upstream"] = true
            } else if hasSso {
                integration["platformSso"] = true
            }
            return integration
        }
        return ["mvpds": [entry(id, mvpd)], "integrations": integrations]
    }

    private func entry(_ id: String, _ mvpd: Mvpd) -> [String: Any] {
        let provider = mvpd.provider
        var entry: [String: Any] = ["id": id, "displayName": String(provider.name.prefix(80))]
        if let logo = provider.logo, CatalogueURL.urlProblem(logo) == nil { entry["logoUrl"] = logo }
        for name in provider.switches { entry[name] = true }
        if let window = provider.window {
            entry["iframeWidth"] = window.width
            entry["iframeHeight"] = window.height
        }
        if !mvpd.platforms.isEmpty { entry["platforms"] = mvpd.platforms }
        if bridge != nil {
            entry["upstreamOnly"] = true
        } else if provider.isTrial {
            entry["tempPass"] = ["kind": "basic"]
        }
        return entry
    }

    // MARK: What is missing

    /// The gaps that remain before an MVPD serves without the vendor.
    func gaps(of id: String) -> [Gap] {
        guard let mvpd = mvpds[id] else { return [] }
        var gaps: [Gap] = []
        if mvpd.provider.isTrial {
            gaps.append(Gap(name: "trial", what: "how long the trial lasts (ttl), and its limits if it is promotional", who: Self.dashboard))
        } else {
            gaps += Self.usualGaps
            if mvpd.provider.isProxied {
                gaps.append(Gap(name: "proxy", what: "the MVPD that it is reached through, and its id there", who: Self.dashboard))
            }
        }
        if mvpd.hasUnplacedBoarding, mvpd.platforms.isEmpty {
            gaps.append(Gap(name: "boarding", what: "for which platform the answer boards it: read it again with --platform", who: "you"))
        }
        for (platform, reason) in mvpd.incomplete {
            gaps.append(
                Gap(name: "boarding", what: "\(reason) (\(platform))", who: platform == "ios" || platform == "tvos" ? "Apple" : Self.dashboard))
        }
        return gaps
    }

    private static let usualGaps = [
        Gap(name: "signIn", what: "its SAML metadata; or, with OAuth, its issuer and a client of your own", who: mvpd),
        Gap(name: "certificates", what: "the SHA-256 of its signing certificates, by a second way", who: mvpd),
        Gap(name: "attributes", what: "the names of its attributes: the person's id, and each user metadata key that you use", who: mvpd),
        Gap(name: "decisions", what: "the address and form of its decision point, or that it has none", who: mvpd),
        Gap(name: "lifetimes", what: "authnTtl and authzTtl: the reports AuthN TTL and AuthZ TTL", who: dashboard),
        Gap(name: "metadataKeys", what: "the user metadata keys of each integration, and which are encrypted", who: dashboard),
    ]

    /// The list of gaps, over one that is kept already. The marks of who was asked, has answered and has signed in stay. An MVPD that is not in this
    /// answer stays too.
    /// - Parameter kept: The list so far.
    func list(over kept: [String: Any]) -> [String: Any] {
        let former = kept["mvpds"] as? [[String: Any]] ?? []
        let states = Dictionary(former.map { (OctetText($0["id"] as? String ?? ""), $0) }) { first, _ in first }
        let found = mvpdIDs.map { id -> [String: Any] in
            let mvpd = mvpds[id]
            var entry: [String: Any] = states[id]?.filter { ["asked", "answered", "signedIn"].contains($0.key) } ?? [:]
            let known = states[id]?["requestors"] as? [String] ?? []
            entry["id"] = id
            entry["displayName"] = mvpd?.provider.name ?? id
            entry["requestors"] = known + (mvpd?.requestors ?? []).filter { !known.contains($0) }
            if mvpd?.provider.isTrial == true { entry["trial"] = true }
            if mvpd?.provider.isProxied == true { entry["proxied"] = true }
            entry["missing"] = gaps(of: id).map { ["name": $0.name, "what": $0.what, "who": $0.who] }
            return entry
        }
        let others = former.filter { mvpds[$0["id"] as? String ?? ""] == nil }
        let names = requestorIDs.map { ($0, requestors[$0]?.name ?? $0) }
        let channels = (kept["requestors"] as? [String: String] ?? [:]).merging(names) { $1 }
        return ["mvpds": found + others, "requestors": channels]
    }
}
