package import CSandboxXml

/// A received element: what the parser saw, as a value.
package struct XmlElement: Sendable {
    package let name: String
    package let namespace: String
    /// Attributes without a namespace.
    package let attributes: [String: String]
    package let children: [XmlElement]
    /// The text without surrounding white space; nil when the element holds elements, comments or CDATA.
    package let text: String?

    /// Parses one document (mvpd §6).
    package init(parsing xml: [UInt8]) throws(XmlRejection) {
        try XmlRejection.check(csandbox_start())
        var document: OpaquePointer?
        try XmlRejection.check(csandbox_document_parse(xml, xml.count, &document))
        guard let document else { throw XmlRejection(reason: "xml.form") }
        defer { csandbox_document_free(document) }
        self.init(csandbox_document_root(document))
    }

    private init(_ node: OpaquePointer) {
        name = String(cString: csandbox_node_name(node))
        namespace = csandbox_node_namespace(node).map { String(cString: $0) } ?? ""
        attributes = Self.attributes(of: node)
        var children: [XmlElement] = []
        var next = csandbox_node_first(node)
        while let child = next {
            children.append(XmlElement(child))
            next = csandbox_node_next(child)
        }
        self.children = children
        text = Self.string { csandbox_node_text(node, $0) }.map(Self.trimmed)
    }

    /// The children of this name in this namespace.
    package func children(_ name: String, in namespace: String) -> [XmlElement] {
        children.filter { $0.name == name && $0.namespace == namespace }
    }

    /// The child of this name in this namespace, when there is exactly one.
    package func only(_ name: String, in namespace: String) -> XmlElement? {
        let found = children(name, in: namespace)
        return found.count == 1 ? found[0] : nil
    }

    private static func attributes(of node: OpaquePointer) -> [String: String] {
        var attributes: [String: String] = [:]
        for index in 0..<csandbox_node_attribute_count(node) {
            attributes[String(cString: csandbox_node_attribute_name(node, index))] = string { csandbox_node_attribute_value(node, index, $0) }
        }
        return attributes
    }

    private static func string(_ produce: (UnsafeMutablePointer<CSandboxOctets>) -> Void) -> String? {
        var octets = CSandboxOctets(bytes: nil, count: 0)
        produce(&octets)
        defer { csandbox_octets_free(&octets) }
        guard let bytes = octets.bytes else { return nil }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: octets.count), as: UTF8.self)
    }

    private static func trimmed(_ text: String) -> String {
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let octets = Array(text.utf8)
        guard let first = octets.firstIndex(where: { !isSpace($0) }), let last = octets.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(decoding: octets[first...last], as: UTF8.self)
    }
}

/// The XML layer refused a text, or could not make one, for this reason.
package struct XmlRejection: Error, Equatable {
    /// A reason code (`xml.dtd`, `sig.invalid`, …) or a short sentence; safe to show.
    package let reason: String

    package init(reason: String) { self.reason = reason }

    /// Turns the C convention (no text is success) into an error.
    package static func check(_ reason: UnsafePointer<CChar>?) throws(XmlRejection) {
        if let reason { throw XmlRejection(reason: String(cString: reason)) }
    }

    /// Runs a C function that leaves octets behind, and takes them over.
    package static func octets(_ produce: (UnsafeMutablePointer<CSandboxOctets>) -> UnsafePointer<CChar>?) throws(XmlRejection) -> [UInt8] {
        var octets = CSandboxOctets(bytes: nil, count: 0)
        try check(produce(&octets))
        defer { csandbox_octets_free(&octets) }
        return Array(UnsafeBufferPointer(start: octets.bytes, count: octets.count))
    }
}
