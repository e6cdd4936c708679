internal import CatalogueFiles
internal import CommandKit
internal import SamlProfile
internal import StrictJson

/// A requestor in a vendor's public configuration. The vendor's REST API v1 answers in JSON and in XML, and v2 in JSON (rest-v1 §3.3, rest-v2 §2.1).
struct VendorConfiguration: Sendable {
    struct Domain: Hashable, Sendable {
        let name: String
        let isMvpdInitiated: Bool
    }

    /// The facts about a provider that a platform's own sign-in knows.
    struct Boarding: Hashable, Sendable {
        let isEnabled: Bool
        /// `SUPPORTED`, `PICKER`, or nil.
        let status: String?
        let isInPicker: Bool
        let enforcesPermissions: Bool
        let mappingID: String?
        let metadataFields: [String]

        /// False where all of it is off.
        var saysSomething: Bool { isEnabled || isInPicker || enforcesPermissions || status != nil || mappingID != nil }
    }

    /// Pixels.
    struct Window: Hashable, Sendable {
        let width: Int
        let height: Int
    }

    struct Provider: Hashable, Sendable {
        let id: String
        let name: String
        let logo: String?
        let isTrial: Bool
        let isProxied: Bool
        /// Switches of the catalogue that the vendor calls alike, as far as they are on.
        let switches: [String]
        /// Nil where the vendor tells none.
        let window: Window?
        /// Nil where the vendor tells nothing of it.
        let boarding: Boarding?
    }

    /// Octets of an answer; a longer one is refused.
    static let largest = 4 * 1024 * 1024

    let id: String
    let name: String
    let domains: [Domain]
    let providers: [Provider]

    /// - Parameters:
    ///   - octets: The whole answer.
    ///   - source: The file or the address that it came from, for messages.
    /// - Throws: `CommandFailure` for what is no such answer.
    init(_ octets: [UInt8], from source: String) throws {
        guard octets.count <= Self.largest else {
            throw CommandFailure("\(source) has more than \(Self.largest / 1_048_576) MiB", advice: "no configuration is as long", exit: .usage)
        }
        let content = octets.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(octets.dropFirst(3)) : octets
        let isXml = content.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "<")
        let tree = isXml ? try Self.xml(content, source) : try Self.json(content, source)
        guard let requestor = tree["requestor"] ?? tree["config"]?["requestor"], let id = requestor["id"]?.text, CatalogueSyntax.isID(id) else {
            throw CommandFailure(
                "\(source) is no configuration: it has no requestor with an id", advice: "give the answer of /api/v1/config/REQUESTOR as it came",
                exit: .usage)
        }
        self.id = id
        name = requestor["name"]?.said ?? id
        domains = Self.list(requestor["domains"]).compactMap { domain -> Domain? in
            guard let name = domain.said ?? domain["name"]?.said else { return nil }
            return Domain(name: name.lowercased(), isMvpdInitiated: domain["mvpdInitiated"]?.isOn ?? false)
        }
        // The reference names the list beside the requestor, and its sample has it inside.
        providers = Self.list(requestor["mvpds"] ?? tree["mvpds"]).compactMap { Provider($0) }
    }

    private static func json(_ octets: [UInt8], _ source: String) throws -> JsonTree {
        do throws(JsonSyntaxError) {
            return JsonTree(try JsonDocument(parsing: octets).root)
        } catch {
            throw CommandFailure("\(source) is neither JSON nor XML (\(error))", advice: "give the answer as it came", exit: .usage)
        }
    }

    private static func xml(_ octets: [UInt8], _ source: String) throws -> JsonTree {
        do throws(XmlRecord.Rejection) {
            let root = try XmlRecord(document: octets)
            return .object([root.name: tree(root)]).withoutRoot("config")
        } catch {
            throw CommandFailure("\(source) \(error.message)", advice: "give the answer as it came", exit: .usage)
        }
    }

    private static let lists: Set<OctetText> = ["domains", "mvpds", "requiredMetadataFields"]

    private static func tree(_ record: XmlRecord) -> JsonTree {
        if lists.contains(OctetText(record.name)), !record.children.isEmpty || record.text.isEmpty { return .array(record.children.map(tree)) }
        if record.children.isEmpty { return .string(record.text) }
        return .object(Dictionary(record.children.map { ($0.name, tree($0)) }) { first, _ in first })
    }

    /// A list, also where each element stands under a name of its own: `{"mvpd": […]}`.
    static func list(_ tree: JsonTree?) -> [JsonTree] {
        guard case .object(let members)? = tree else { return tree?.elements ?? [] }
        guard members.count == 1, let only = members.values.first else { return [] }
        return if case .array(let elements) = only { elements } else { [only] }
    }
}

extension VendorConfiguration.Provider {
    private static let switches = ["authPerAggregator", "authPerBrowserSession", "passiveAuthnEnabled", "requiresSafariViewController"]

    /// Nil for what has no id.
    fileprivate init?(_ tree: JsonTree) {
        guard let id = tree["id"]?.said else { return nil }
        self.id = id
        name = tree["displayName"]?.said ?? id
        logo = tree["logoUrl"]?.said ?? tree["logoURL"]?.said
        isTrial = tree["isTempPass"]?.isOn ?? tree["tempPass"]?.isOn ?? false
        isProxied = tree["isProxy"]?.isOn ?? false
        // The vendor spells it iFrame; the calls of its SDKs are read, too.
        let isFramed = tree["iFrameRequired"]?.isOn ?? tree["iframeRequired"]?.isOn ?? false
        switches = Self.switches.filter { tree[$0]?.isOn ?? false } + (isFramed ? ["iframeRequired"] : [])
        if let width = (tree["iFrameWidth"] ?? tree["iframeWidth"])?.pixels, let height = (tree["iFrameHeight"] ?? tree["iframeHeight"])?.pixels {
            window = VendorConfiguration.Window(width: width, height: height)
        } else {
            window = nil
        }
        boarding = VendorConfiguration.Boarding(tree)
    }
}

extension VendorConfiguration.Boarding {
    private static let members = ["enablePlatformServices", "boardingStatus", "displayInPlatformPicker", "platformMappingId"]

    fileprivate init?(_ tree: JsonTree) {
        guard Self.members.contains(where: { tree[$0] != nil }) else { return nil }
        isEnabled = tree["enablePlatformServices"]?.isOn ?? false
        status = tree["boardingStatus"]?.said
        isInPicker = tree["displayInPlatformPicker"]?.isOn ?? false
        enforcesPermissions = tree["enforcePlatformPermissions"]?.isOn ?? false
        mappingID = tree["platformMappingId"]?.said
        metadataFields = VendorConfiguration.list(tree["requiredMetadataFields"]).compactMap(\.said)
    }
}

extension JsonTree {
    /// A text that is not empty.
    fileprivate var said: String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    /// A switch, as JSON or as XML says it.
    fileprivate var isOn: Bool? {
        switch self {
        case .bool(let value): value
        case .string(let text) where ["true", "false"].contains(text): text == "true"
        default: nil
        }
    }

    /// A size of a window that the catalogue may have.
    fileprivate var pixels: Int? {
        let size: Int? =
            switch self {
            case .number(let written), .string(let written): Int(written)
            default: nil
            }
        return size.flatMap { (100...2000).contains($0) ? $0 : nil }
    }

    /// The tree under the root's name, if that is the root.
    fileprivate func withoutRoot(_ name: String) -> JsonTree { self[name] ?? self }
}
