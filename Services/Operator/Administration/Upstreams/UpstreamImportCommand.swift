internal import ArgumentParser
internal import CatalogueFiles
internal import CommandKit
internal import Foundation
internal import TextEncodings

/// `boxoffice upstream import`: what an upstream offers, as entries of the catalogue.
struct UpstreamImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Show what an upstream offers that the catalogue lacks, as entries for it; with --draft, put them into your draft.",
        discussion: """
            Entries that are there stay as they are: a name that differs is told, not taken. An upstream does not tell lifetimes, endpoints, certificates, \
            metadata keys, limits of preauthorization, rules, sizes of login windows, or the fields of a platform's own sign-in.
            """)

    @Argument(help: "The upstream's id.")
    var upstream: String

    @Option(help: "The channel.")
    var requestor: String

    @Option(
        name: .customLong("platform"),
        help: "A platform to ask for: ios, tvos, roku, fireTv, android, desktop, otherMobile or otherTv; repeat it for several. Default: all.")
    var platforms: [String] = []

    @Flag(help: "Put what is missing into your draft.")
    var draft = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        for platform in platforms where !UpstreamOffers.platforms.contains(platform) {
            throw ValidationError("--platform \(platform) is none of \(UpstreamOffers.platforms.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        let offers = try await UpstreamOffers.read(upstream, requestor: requestor, platforms: platforms)
        let comparison = UpstreamComparison(offers, try await OwnEntries.read(requestor: requestor, upstream: upstream), requestor: requestor)
        if draft { try await comparison.draft() }
        let fragment: [String: Any] = ["mvpds": comparison.mvpds, "integrations": comparison.integrations]
        guard !json else {
            let differences = comparison.differences.map { ["mvpd": $0.mvpd, "difference": $0.text] }
            let notes = comparison.notes.map { ["mvpd": $0.mvpd, "note": $0.text] }
            return try JsonOutput.show([
                "upstream": upstream, "requestor": requestor, "fragment": fragment, "differences": differences, "notes": notes, "drafted": draft,
                "leftOut": offers.leftOut.sorted(),
            ])
        }
        try tell(comparison, fragment, offers)
    }

    private func tell(_ comparison: UpstreamComparison, _ fragment: [String: Any], _ offers: UpstreamOffers) throws {
        let console = Console()
        for id in offers.leftOut.sorted() { console.line("left out: '\(id)' is no id that an MVPD can have here") }
        for note in comparison.notes { console.line("note: \(note.mvpd) \(note.text)") }
        guard !comparison.differences.isEmpty else { return console.line("no difference: the catalogue has all \(offers.mvpds.count) MVPDs") }
        let width = comparison.differences.map(\.mvpd.count).max() ?? 0
        for difference in comparison.differences {
            console.line(difference.mvpd.padding(toLength: width, withPad: " ", startingAt: 0) + "  " + difference.text)
        }
        guard !comparison.isComplete else { return }
        if draft { return console.line("in the draft; 'boxoffice draft show' lists it, 'boxoffice draft push' makes it live") }
        console.line()
        try JsonOutput.show(fragment)
    }
}

/// The MVPDs that an upstream offers at a channel, over all platforms that were asked for.
struct UpstreamOffers {
    struct Mvpd {
        var name: String
        var logo: String?
        var isTrial: Bool
        /// The entries for the platform's own sign-in, in the form of the catalogue.
        var platforms: [[String: Any]] = []
        /// Upstream lists it here.
        var listedFor: [String] = []
        /// It boards platforms that the entry cannot say whole here.
        var incomplete: [String] = []
    }

    static let platforms = ["ios", "tvos", "roku", "fireTv", "android", "desktop", "otherMobile", "otherTv"]
    /// Those with a sign-in of their own.
    private static let boarding: Set<String> = ["ios", "tvos", "roku", "fireTv"]

    /// By upstream's ids, in its order.
    private(set) var ids: [String] = []
    private(set) var mvpds: [String: Mvpd] = [:]
    private(set) var leftOut: Set<String> = []

    /// - Throws: `CommandFailure`; where no client serves any of the platforms, too.
    static func read(_ upstream: String, requestor: String, platforms chosen: [String]) async throws -> UpstreamOffers {
        var offers = UpstreamOffers()
        var unserved: CommandFailure?
        var isServed = false
        for platform in chosen.isEmpty ? platforms : chosen {
            let path = "/upstreams/\(FormEncoding.encode(upstream))/offers?requestor=\(FormEncoding.encode(requestor))&platform=\(platform)"
            do {
                offers.take(try await AdministrationCall.send("GET", path).object, platform)
                isServed = true
            } catch let failure as CommandFailure where failure.description.contains("serves the platform") {
                unserved = failure
            }
        }
        if let unserved, !isServed { throw unserved }
        return offers
    }

    mutating func take(_ answer: [String: Any], _ platform: String) {
        leftOut.formUnion(answer["leftOut"] as? [String] ?? [])
        for offer in answer["offers"] as? [[String: Any]] ?? [] {
            guard let id = offer["id"] as? String else { continue }
            if mvpds[id] == nil {
                ids.append(id)
                mvpds[id] = Mvpd(
                    name: offer["displayName"] as? String ?? id, logo: offer["logoUrl"] as? String, isTrial: offer["tempPass"] as? Bool ?? false)
            }
            mvpds[id]?.listedFor.append(platform)
            board(id, offer, platform)
        }
    }

    private mutating func board(_ id: String, _ offer: [String: Any], _ platform: String) {
        guard Self.boarding.contains(platform), let mapping = offer["platformMappingId"] as? String, let status = offer["boardingStatus"] as? String
        else { return }
        // The exchanged values are not told, and an entry needs them.
        guard status == "PICKER" else {
            mvpds[id]?.incomplete.append(platform)
            return
        }
        var block: [String: Any] = ["platform": platform, "boardingStatus": status, "platformMappingId": mapping]
        for name in ["enablePlatformServices", "displayInPlatformPicker", "enforcePlatformPermissions"] where offer[name] as? Bool == true {
            block[name] = true
        }
        mvpds[id]?.platforms.append(block)
    }
}

/// The draft's entries of a channel.
struct OwnEntries {
    /// By id.
    private(set) var mvpds: [String: [String: Any]] = [:]
    private(set) var integrations: [String: [String: Any]] = [:]
    /// Theirs to ours.
    private(set) var names: [String: String] = [:]

    /// - Throws: `CommandFailure`, also where the channel uses another upstream.
    static func read(requestor: String, upstream: String) async throws -> OwnEntries {
        var own = OwnEntries()
        let entity = try await AdministrationCall.send("GET", "/requestors/\(FormEncoding.encode(requestor))").object["entity"] as? [String: Any]
        let bridge = entity?["upstream"] as? [String: Any]
        guard bridge?["upstream"] as? String == upstream else {
            throw CommandFailure("\(requestor) does not use the upstream \(upstream)", advice: "give it an 'upstream' first", exit: .usage)
        }
        let ours = bridge?["mvpdIds"] as? [String: String] ?? [:]
        own.add(names: Dictionary(ours.map { ($1, $0) }, uniquingKeysWith: { first, _ in first }))
        for mvpd in try await all("/mvpds?") { own.add(mvpd: mvpd) }
        for integration in try await all("/integrations?requestor=\(FormEncoding.encode(requestor))&") { own.add(integration: integration) }
        return own
    }

    /// - Parameter names: Theirs to ours.
    mutating func add(names: [String: String]) { self.names.merge(names) { first, _ in first } }

    mutating func add(mvpd: [String: Any]) { mvpds[mvpd["id"] as? String ?? ""] = mvpd }

    mutating func add(integration: [String: Any]) {
        let id = integration["mvpd"] as? String ?? ""
        integrations[id] = integration
        if let theirs = (integration["upstream"] as? [String: Any])?["mvpd"] as? String { names[theirs] = id }
    }

    private static func all(_ path: String) async throws -> [[String: Any]] {
        var entities: [[String: Any]] = []
        for page in 1... {
            let answer = try await AdministrationCall.send("GET", "\(path)size=200&page=\(page)").object
            let items = answer["items"] as? [[String: Any]] ?? []
            entities += items.compactMap { $0["entity"] as? [String: Any] }
            if items.isEmpty || entities.count >= answer["total"] as? Int ?? 0 { break }
        }
        return entities
    }
}

/// The upstream's offers compared with the draft.
struct UpstreamComparison {
    struct Difference: Equatable {
        let mvpd: String
        let text: String
    }

    /// New entries, in upstream's order.
    private(set) var mvpds: [[String: Any]] = []
    private(set) var integrations: [[String: Any]] = []
    private(set) var differences: [Difference] = []
    /// The entries with another name here, as entries may have.
    private(set) var notes: [Difference] = []

    /// True when nothing is to be put into a draft.
    var isComplete: Bool { mvpds.isEmpty && integrations.isEmpty }

    init(_ offers: UpstreamOffers, _ own: OwnEntries, requestor: String) {
        var listed: Set<String> = []
        for theirs in offers.ids {
            guard let offer = offers.mvpds[theirs] else { continue }
            let id = own.names[theirs] ?? theirs
            listed.insert(id)
            compare(id, offer, own, requestor)
        }
        for (id, integration) in own.integrations.sorted(by: { $0.key < $1.key })
        where integration["upstream"] != nil && integration["enabled"] as? Bool != false && !listed.contains(id) {
            differences.append(Difference(mvpd: id, text: "is not listed upstream; nobody is offered it"))
        }
    }

    private mutating func compare(_ id: String, _ offer: UpstreamOffers.Mvpd, _ own: OwnEntries, _ requestor: String) {
        // One that goes another way, or none, was meant to.
        if let integration = own.integrations[id], integration["upstream"] == nil || integration["enabled"] as? Bool == false { return }
        var said: [String] = []
        if let mvpd = own.mvpds[id] {
            if let name = mvpd["displayName"] as? String, name != offer.name {
                notes.append(Difference(mvpd: id, text: "is '\(name)' here, '\(offer.name)' upstream; yours stays"))
            }
        } else {
            mvpds.append(Self.entry(id, offer))
            said.append("is new: '\(offer.name)'\(offer.isTrial ? ", a trial" : ""), for \(offer.listedFor.joined(separator: ", "))")
            if !offer.incomplete.isEmpty {
                said.append("its sign-in by \(offer.incomplete.joined(separator: ", ")) is left out: upstream does not tell requiredMetadataFields")
            }
        }
        if own.integrations[id] == nil {
            integrations.append(["requestor": requestor, "mvpd": id, "upstream": true])
            if own.mvpds[id] != nil { said.append("is not integrated with \(requestor)") }
        }
        if !said.isEmpty { differences.append(Difference(mvpd: id, text: said.joined(separator: "; "))) }
    }

    /// Puts what is new into the draft: all of it, or nothing.
    /// - Throws: `CommandFailure` with what the cluster says.
    func draft() async throws {
        try await DraftEdit.together { (edit: inout DraftEdit) async throws -> Void in
            for entry in mvpds { try await edit.write(EntityKey(.mvpds, entry["id"] as? String ?? ""), entry) }
            for entry in integrations {
                let id = "\(entry["requestor"] as? String ?? "")/\(entry["mvpd"] as? String ?? "")"
                try await edit.write(EntityKey(.integrations, id), entry)
            }
        }
    }

    private static func entry(_ id: String, _ offer: UpstreamOffers.Mvpd) -> [String: Any] {
        var entry: [String: Any] = ["id": id, "displayName": offer.name, "upstreamOnly": true]
        entry["logoUrl"] = offer.logo
        if !offer.platforms.isEmpty { entry["platforms"] = offer.platforms }
        return entry
    }
}
