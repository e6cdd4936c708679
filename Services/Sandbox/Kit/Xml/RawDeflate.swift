internal import CSandboxXml

/// The compression of the HTTP redirect binding (SAML bindings §3.4.4.1).
enum RawDeflate {
    /// Most octets that a message may have after inflating.
    static let largestMessage = 64 * 1024

    static func inflate(_ octets: [UInt8]) throws(XmlRefusal) -> [UInt8] {
        try XmlRefusal.octets { csandbox_inflate(octets, octets.count, largestMessage, $0) }
    }

    static func deflate(_ octets: [UInt8]) throws(XmlRefusal) -> [UInt8] {
        try XmlRefusal.octets { csandbox_deflate(octets, octets.count, $0) }
    }
}
