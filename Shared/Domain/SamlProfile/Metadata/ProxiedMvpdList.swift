/// The list of MVPDs that a proxy sends (dashboard §4): XML `proxiedMvpds` in the namespace `http://tve.adobe.com/data/proxiedmvpd`, or in none, as
/// published samples have it. It is a stranger's text, and read as strictly as a message of SAML.
public struct ProxiedMvpdList: Hashable, Sendable {
    /// Octets; a longer document is refused.
    public static let largest = 1024 * 1024
    /// Records; a longer list is refused.
    public static let most = 2000

    /// The window of a sign-in, in pixels as they are written.
    public struct Frame: Hashable, Sendable {
        public let width: String
        public let height: String
    }

    public struct Record: Hashable, Sendable {
        public let id: String
        public let displayName: String
        /// Empty: none.
        public let logoURL: String
        /// Nil when the proxy knows it by its id.
        public let providerID: String?
        /// Nil for a page of its own.
        public let frame: Frame?
        /// Empty: every requestor of the proxy.
        public let requestorIDs: [String]
    }

    /// The problem that keeps a text from being such a list.
    public struct Rejection: Error, Hashable, Sendable {
        /// `proxiedMvpd[2].displayName`; empty for the document as a whole.
        public let place: String
        /// Goes on from the place.
        public let message: String
    }

    public let records: [Record]

    /// - Throws: The first problem.
    public init(document: String) throws(Rejection) {
        guard document.utf8.count <= Self.largest else { throw Rejection(place: "", message: "has more than \(Self.largest) bytes") }
        let root: XmlElement
        do throws(XmlRejection) {
            root = try ParsedDocument.parseList(Array(document.utf8)).root
        } catch {
            throw Rejection(place: "", message: "cannot be read: \(error.rejection.explanation)")
        }
        guard Self.isNamed(root, "proxiedMvpds") else { throw Rejection(place: "", message: "has another root than proxiedMvpds") }
        var records: [Record] = []
        for element in root.children {
            guard Self.isNamed(element, "proxiedMvpd") else { throw Self.unknown(element, in: "proxiedMvpds") }
            guard records.count < Self.most else { throw Rejection(place: "", message: "has more than \(Self.most) MVPDs") }
            records.append(try Self.record(element, at: "proxiedMvpd[\(records.count)]"))
        }
        self.records = records
    }

    private static func record(_ element: XmlElement, at place: String) throws(Rejection) -> Record {
        var found: [String: XmlElement] = [:]
        for child in element.children {
            guard ["id", "displayName", "logoURL", "iframeSize", "requestorIds"].contains(where: { isNamed(child, $0) }) else {
                throw unknown(child, in: place)
            }
            if found.updateValue(child, forKey: child.localName) != nil {
                throw Rejection(place: "\(place).\(child.localName)", message: "is there twice")
            }
        }
        let id = try text("id", of: found, at: place)
        let provider = found["id"]?.attribute("ProviderID")
        if let provider, !(1...128).contains(provider.utf8.count) {
            throw Rejection(place: "\(place).id", message: "must have a ProviderID of 1 to 128 bytes, or none")
        }
        return Record(
            id: id, displayName: try text("displayName", of: found, at: place), logoURL: try text("logoURL", of: found, at: place),
            providerID: provider,
            frame: try frame(found["iframeSize"], at: "\(place).iframeSize"),
            requestorIDs: try requestors(found["requestorIds"], at: "\(place).requestorIds"))
    }

    private static func frame(_ element: XmlElement?, at place: String) throws(Rejection) -> Frame? {
        guard let element else { return nil }
        var found: [String: XmlElement] = [:]
        for child in element.children {
            guard isNamed(child, "iframeWidth") || isNamed(child, "iframeHeight") else { throw unknown(child, in: place) }
            if found.updateValue(child, forKey: child.localName) != nil {
                throw Rejection(place: "\(place).\(child.localName)", message: "is there twice")
            }
        }
        return Frame(width: try text("iframeWidth", of: found, at: place), height: try text("iframeHeight", of: found, at: place))
    }

    private static func requestors(_ element: XmlElement?, at place: String) throws(Rejection) -> [String] {
        guard let element else { return [] }
        var ids: [String] = []
        for child in element.children {
            guard isNamed(child, "requestorId") else { throw unknown(child, in: place) }
            guard let id = child.text, !id.isEmpty else {
                throw Rejection(place: "\(place)[\(ids.count)]", message: "must be a text that is not empty")
            }
            ids.append(id)
        }
        // An element without any is no list of all: who means all leaves the element out.
        if ids.isEmpty { throw Rejection(place: place, message: "must have at least one requestorId, or not be there") }
        return ids
    }

    private static func text(_ name: String, of found: [String: XmlElement], at place: String) throws(Rejection) -> String {
        guard let element = found[name] else { throw Rejection(place: "\(place).\(name)", message: "is missing") }
        guard let text = element.text else { throw Rejection(place: "\(place).\(name)", message: "must hold text alone") }
        return text
    }

    private static func isNamed(_ element: XmlElement, _ name: String) -> Bool {
        element.localName == name && (element.namespace == "" || element.namespace == "\(Namespaces.proxiedMvpd)")
    }

    private static func unknown(_ element: XmlElement, in place: String) -> Rejection {
        Rejection(place: place, message: "has an element '\(element.localName.prefix(64))' that the list does not know")
    }
}
