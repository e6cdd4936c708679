/// The words of a statement that makes tables, as the schemas of our stores are written: keywords in capitals, names in small letters.
struct SchemaWords: Sendable {
    struct Word: Sendable, Hashable {
        /// A name, a keyword, a number, a mark, or a quoted text with its quotes.
        var text: String
        /// True when white space stands before it.
        var isApart: Bool
    }

    var words: [Word]

    /// The statement on one line, with one space where there was white space.
    var text: String {
        words.enumerated().map { index, word in
            let opens = index > 0 && words[index - 1].text == "("
            return (word.isApart && index > 0 && !opens && word.text != ")" ? " " : "") + word.text
        }.joined()
    }

    /// True when it begins with these words.
    func begins(_ start: String...) -> Bool { words.count >= start.count && zip(words, start).allSatisfy { $0.text == $1 } }

    /// The parts of what the first pair of brackets holds, which commas separate.
    var columns: [SchemaWords] {
        guard let open = words.firstIndex(where: { $0.text == "(" }), let close = words.lastIndex(where: { $0.text == ")" }) else { return [] }
        var (parts, depth) = ([[Word]()], 0)
        for word in words[words.index(after: open)..<close] {
            switch word.text {
            case "(": depth += 1
            case ")": depth -= 1
            default: break
            }
            if word.text == ",", depth == 0 { parts.append([]) } else { parts[parts.count - 1].append(word) }
        }
        return parts.filter { !$0.isEmpty }.map(SchemaWords.init)
    }
}

extension SchemaWords {
    /// The statements of a script. A semicolon ends each but the last; the body of a trigger ends with `END`.
    static func statements(of script: String) -> [SchemaWords] {
        var (statements, current) = ([SchemaWords](), [Word]())
        func isInTrigger() -> Bool {
            current.count > 1 && current[0].text == "CREATE" && current[1].text == "TRIGGER" && current[current.count - 1].text != "END"
        }
        for word in words(of: script) {
            if word.text == ";", !isInTrigger() {
                if !current.isEmpty { statements.append(SchemaWords(words: current)) }
                current = []
            } else {
                current.append(word)
            }
        }
        if !current.isEmpty { statements.append(SchemaWords(words: current)) }
        return statements
    }

    private static func words(of script: String) -> [Word] {
        var (rest, found, isApart) = (script.unicodeScalars[...], [Word](), false)
        func take(while isPart: (Unicode.Scalar) -> Bool) -> String {
            let part = rest.prefix(while: isPart)
            rest = rest[part.endIndex...]
            return String(part)
        }
        while let first = rest.first {
            if first.properties.isWhitespace {
                _ = take { $0.properties.isWhitespace }
                isApart = true
                continue
            }
            if first == "-", rest.dropFirst().first == "-" {
                _ = take { $0 != "\n" }
                continue
            }
            var text = take(while: isOfName)
            if let quote = rest.first, quote == "'" || quote == "\"", text.isEmpty || text == "x" { text += quoted(quote, &rest) }
            if text.isEmpty { text = String(rest.removeFirst()) }
            found.append(Word(text: text, isApart: isApart))
            isApart = false
        }
        return found
    }

    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_" }

    /// A quoted text with its quotes; two quotes within stand for one.
    private static func quoted(_ quote: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView) -> String {
        var text = String(rest.removeFirst())
        while let scalar = rest.popFirst() {
            text.unicodeScalars.append(scalar)
            guard scalar == quote else { continue }
            guard rest.first == quote else { break }
            text.unicodeScalars.append(rest.removeFirst())
        }
        return text
    }
}
