internal import FoundationEssentials
internal import OutboundHttp
internal import TextEncodings

/// A GET with the resource as Media RSS (mvpd §4.1); the answer is a bare response, XML or JSON.
struct RestForm: DecisionForm {
    private static let xmlTypes: Set = ["application/xacml+xml", "application/xml", "text/xml"]
    private static let jsonTypes: Set = [JsonForm.mediaType, "application/json"]

    let query: DecisionQuery
    let point: DecisionPoint

    func request(to url: String) throws(DecisionPointProblem) -> OutboundRequest {
        var parameters = [("uuID", query.subject), ("mrss", Data(query.mediaRss(point).utf8).base64EncodedString())]
        if !point.record.omitIP, !query.clientAddress.isEmpty { parameters.append(("IPAddress", query.clientAddress)) }
        let joint = url.contains("?") ? "&" : "?"
        let accepted = (Self.xmlTypes.sorted() + Self.jsonTypes.sorted()).joined(separator: ", ")
        return OutboundRequest(.get, url + joint + FormEncoding.encode(parameters), headers: [("accept", accepted)])
    }

    func answer(_ answer: OutboundAnswer) throws(DecisionPointProblem) -> DecisionAnswer {
        let type = answer.header("content-type")?.split(separator: ";").first?.lowercased().filter { $0 != " " } ?? ""
        if Self.xmlTypes.contains(type) { return try Self.bare(xml: answer.body) }
        if Self.jsonTypes.contains(type) { return try Self.bare(json: answer.body, point.vocabulary) }
        throw DecisionPointProblem("the answer's Content-Type is neither XML nor JSON: '\(type.prefix(64))'")
    }
}
