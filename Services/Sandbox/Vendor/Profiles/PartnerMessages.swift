internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// The SAML messages that go through Apple's framework. They are not signed: the stand-in compares only what the request and its answer say.
enum PartnerMessages {
    /// The attributes that a request asks for; nothing else of the person comes back.
    static let attributes = ["uid", "NameID"]

    static func request(_ id: String, mvpd: String) -> String {
        XmlNode.element(
            "samlp:AuthnRequest",
            ["xmlns:samlp": XmlNames.protocol, "ID": id, "Version": "2.0", "Destination": "https://\(mvpd.lowercased()).sandbox.example/sso"], []
        ).serialized()
    }

    /// The id of a request.
    static func requestID(_ xml: [UInt8]) -> String? {
        guard let root = try? XmlElement(parsing: xml), root.name == "AuthnRequest" else { return nil }
        return root.attributes["ID"]
    }

    static func response(to id: String, person: String) -> String {
        XmlNode.element(
            "samlp:Response",
            ["xmlns:samlp": XmlNames.protocol, "xmlns:saml": XmlNames.assertion, "Version": "2.0", "InResponseTo": id],
            [.element("saml:Subject", [:], [.element("saml:NameID", [:], [.text(person)])])]
        ).serialized()
    }

    /// The id of the request that an answer is for, and the person that it is about.
    static func answer(_ xml: [UInt8]) -> (id: String, person: String)? {
        guard let root = try? XmlElement(parsing: xml), root.name == "Response", let id = root.attributes["InResponseTo"],
            let person = root.only("Subject", in: XmlNames.assertion)?.only("NameID", in: XmlNames.assertion)?.text
        else { return nil }
        return (id, person)
    }
}

/// SAML requests that were handed out for Apple's platform; each is answered once (rest-v2 §2.13).
struct PartnerRequests: Sendable {
    struct Request: Sendable {
        let client: String
        let device: DeviceIdentifier
        let serviceProvider: String
        let mvpd: String
        let madeAt: Timestamp
    }

    private static let life = Duration.seconds(600)
    private var requests = BoundedTable<String, Request>(limit: 10_000)

    mutating func add(_ id: String, _ request: Request) { requests[id] = request }

    func request(_ id: String) -> Request? { requests[id] }

    /// - Returns: The request, once, while it is not too old.
    mutating func take(_ id: String, at now: Timestamp) -> Request? {
        guard let request = requests[id] else { return nil }
        requests[id] = nil
        return now - request.madeAt < Self.life ? request : nil
    }
}

/// The partner framework's status (rest-v2 §1.3, `AP-Partner-Framework-Status`).
struct PartnerStatus: Sendable {
    /// Where the expiry date must be there.
    enum Strictness { case expiryMayBeAbsent, expiryNeeded }

    private struct Message: Decodable {
        struct Permission: Decodable { let accessStatus: String? }
        struct Provider: Decodable {
            let id: String?
            let expirationDate: String?
        }

        let frameworkPermissionInfo: Permission?
        let frameworkProviderInfo: Provider?
    }

    let isSent: Bool
    private let message: Message?

    init(header: String?) {
        isSent = header != nil
        message = header.flatMap { $0.utf8.count <= 8192 ? Base64.octets($0) : nil }.flatMap {
            try? JSONDecoder().decode(Message.self, from: Data($0))
        }
    }

    /// The MVPD that the platform has signed in to.
    func mvpd(_ catalogue: VendorCatalogue) -> VendorCatalogue.Mvpd? {
        (message?.frameworkProviderInfo?.id).flatMap(catalogue.mvpd(platformMappingID:))
    }

    /// The first check that fails, in the order of the table.
    /// - Parameter mvpd: The one that is addressed; nil: the status says which.
    func fault(
        for mvpd: VendorCatalogue.Mvpd?, _ catalogue: VendorCatalogue, at now: Timestamp, _ strictness: Strictness = .expiryMayBeAbsent
    ) -> VendorErrorCode? {
        guard let access = message?.frameworkPermissionInfo?.accessStatus else { return .partnerPermissionNotPresent }
        if access == "notDetermined" { return .partnerPermissionNotDetermined }
        guard access == "granted" else { return .partnerPermissionNotGranted }
        guard let named = self.mvpd(catalogue) else { return .partnerProviderNotDetermined }
        if let mvpd, mvpd.id != named.id { return .partnerProviderMismatch }
        guard let text = message?.frameworkProviderInfo?.expirationDate else {
            return strictness == .expiryNeeded ? .partnerProviderExpired : nil
        }
        guard let end = Int64(text), now.milliseconds < end else { return .partnerProviderExpired }
        return nil
    }
}
