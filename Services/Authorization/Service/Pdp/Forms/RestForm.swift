internal import FoundationEssentials

/// A GET with the resource as Media RSS (mvpd §4.1); the answer is a bare response, XML or JSON.
struct RestForm: DecisionForm {
    private static let xmlTypes: Set = ["application/xacml+xml", "application/xml", "text/xml"]
    private static let jsonTypes: Set = [JsonForm.mediaType, "application/json"]

    let query: DecisionQuery
    let point: DecisionPoint

    func message() throws(DecisionPointProblem) -> DecisionMessage {
        var parameters = [("uuID", query.subject), ("mrss", Data(query.mediaRss(point).utf8).base64EncodedString())]
        if !point.record.omitIP, !query.clientAddress.isEmpty { parameters.append(("IPAddress", query.clientAddress)) }
        let text = parameters.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        let accepted = (Self.xmlTypes.sorted() + Self.jsonTypes.sorted()).joined(separator: ", ")
        return DecisionMessage(method: .get, query: text, headers: [.init("accept", accepted)])
    }

    func answer(_ answer: DecisionTransportAnswer) throws(DecisionPointProblem) -> DecisionAnswer {
        let type = answer.contentType?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? ""
        if Self.xmlTypes.contains(type) { return try Self.bare(xml: answer.body) }
        if Self.jsonTypes.contains(type) { return try Self.bare(json: answer.body, point.vocabulary) }
        throw DecisionPointProblem("the answer's content type is neither XML nor JSON")
    }

    /// All but the unreserved characters of RFC 3986 §2.3 are percent-encoded.
    private static func encoded(_ text: String) -> String {
        var output = ""
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                output.unicodeScalars.append(Unicode.Scalar(octet))
            default:
                output += "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
            }
        }
        return output
    }
}
