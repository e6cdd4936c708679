/// Replaces private values on a tape: the same pseudonym for the same value, another one for another value (bridge §15.4).
struct Pseudonyms: Sendable {
    enum Kind: String, Sendable {
        case address, bearer, client, code, device, id, media, person, secret, statement, text, token, url, value

        /// Those whose value is looked for wherever else it may stand. The others may be words that stand for something else, too.
        fileprivate var isFoundEverywhere: Bool { [.address, .bearer, .client, .code, .device, .media, .secret, .statement, .token].contains(self) }
    }

    private var known: [OctetText: String] = [:]
    private var everywhere: [OctetText: String] = [:]
    private var counts: [Kind: Int] = [:]
    /// By pseudonyms.
    private(set) var values: [OctetText: String] = [:]

    /// Letters and digits alone, so that it can stand for a code, and one that no longer one begins with.
    mutating func name(_ value: String, _ kind: Kind) -> String {
        guard !value.isEmpty else { return "" }
        if let pseudonym = known[OctetText(value)] { return pseudonym }
        let number = (counts[kind] ?? 0) + 1
        counts[kind] = number
        let pseudonym = "TAPE\(kind.rawValue)\(number)Z"
        known[OctetText(value)] = pseudonym
        values[OctetText(pseudonym)] = value
        if kind.isFoundEverywhere { everywhere[OctetText(value)] = pseudonym }
        return pseudonym
    }

    /// A second form of a value that has a pseudonym.
    mutating func alias(_ value: String, of pseudonym: String) {
        guard !value.isEmpty, known[OctetText(value)] == nil else { return }
        known[OctetText(value)] = pseudonym
        everywhere[OctetText(value)] = pseudonym
    }

    func known(_ value: String) -> String? { everywhere[OctetText(value)] }

    /// A text that stays, but for secrets in it.
    func clean(_ text: String) -> String {
        if let pseudonym = known(text) { return pseudonym }
        var (kept, word) = ("", "")
        func end() {
            kept += known(word) ?? word
            word = ""
        }
        for character in text.unicodeScalars {
            if character.properties.isAlphabetic || ("0"..."9").contains(character) || "-_.~+=".unicodeScalars.contains(character) {
                word.unicodeScalars.append(character)
            } else {
                end()
                kept.unicodeScalars.append(character)
            }
        }
        end()
        return kept
    }

    // MARK: In texts

    /// The pseudonyms of a text, in their order, and the text with a star for each.
    static func taken(from text: String) -> (pseudonyms: [String], rest: String) {
        var pseudonyms: [String] = []
        let rest = replaced(in: text) {
            pseudonyms.append($0)
            return "*"
        }
        return (pseudonyms, rest)
    }

    static func replaced(in text: String, _ replacement: (String) -> String) -> String {
        var kept = ""
        var rest = text[...]
        while let match = rest.firstMatch(of: /TAPE[a-z]+[0-9]+Z/) {
            kept += rest[..<match.range.lowerBound]
            kept += replacement(String(match.output))
            rest = rest[match.range.upperBound...]
        }
        return kept + rest
    }

    static func kind(_ pseudonym: String) -> Kind? { Kind(rawValue: String(pseudonym.dropFirst(4).prefix { $0.isLowercase })) }
}
