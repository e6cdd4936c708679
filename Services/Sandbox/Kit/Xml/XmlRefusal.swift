internal import CSandboxXml

/// Why the XML layer refused a text, or could not make one.
struct XmlRefusal: Error, Equatable {
    /// A reason code (`xml.dtd`, `sig.invalid`, …) or a short sentence; safe to show.
    let reason: String

    /// Turns the C convention (no text is success) into an error.
    static func check(_ reason: UnsafePointer<CChar>?) throws(XmlRefusal) {
        if let reason { throw XmlRefusal(reason: String(cString: reason)) }
    }

    /// Runs a C function that leaves octets behind, and takes them over.
    static func octets(_ produce: (UnsafeMutablePointer<CSandboxOctets>) -> UnsafePointer<CChar>?) throws(XmlRefusal) -> [UInt8] {
        var octets = CSandboxOctets(bytes: nil, count: 0)
        try check(produce(&octets))
        defer { csandbox_octets_free(&octets) }
        return Array(UnsafeBufferPointer(start: octets.bytes, count: octets.count))
    }
}
