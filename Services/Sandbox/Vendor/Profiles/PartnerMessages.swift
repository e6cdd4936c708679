/// The SAML messages that go through Apple's framework. They are not signed: the stand-in compares only what the request and its answer say.
enum PartnerMessages {
    /// What a request asks for; nothing else of the person comes back.
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

    /// What an answer answers, and who it is about.
    static func answer(_ xml: [UInt8]) -> (id: String, person: String)? {
        guard let root = try? XmlElement(parsing: xml), root.name == "Response", let id = root.attributes["InResponseTo"],
            let person = root.only("Subject", in: XmlNames.assertion)?.only("NameID", in: XmlNames.assertion)?.text
        else { return nil }
        return (id, person)
    }
}
