import Foundation
import FoundationXML

/// A request in XML as another program's parser reads it.
final class SentXml: NSObject, XMLParserDelegate {
    struct Attribute: Equatable {
        var category: String
        var identifier: String
        var type: String
        var value = ""
    }

    private(set) var attributes: [Attribute] = []
    /// The attributes of the first element of each name.
    private(set) var elements: [String: [String: String]] = [:]
    private(set) var issuer = ""
    private var path: [String] = []

    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.shouldProcessNamespaces = true
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.formatting) }
    }

    func values(_ category: String) -> [String] { attributes.filter { $0.category == category }.map(\.value) }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes found: [String: String]
    ) {
        if elements[name] == nil { elements[name] = found }
        if name == "Attribute" {
            attributes.append(Attribute(category: path.last ?? "", identifier: found["AttributeId"] ?? "", type: found["DataType"] ?? ""))
        }
        path.append(name)
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if path.last == "AttributeValue" { attributes[attributes.count - 1].value += text }
        if path.last == "Issuer" { issuer += text }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) { path.removeLast() }
}
