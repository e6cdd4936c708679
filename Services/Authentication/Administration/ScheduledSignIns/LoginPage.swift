internal import TextEncodings

/// The content of an external page for a browser without scripts: its forms, and the error that it reports. It is read in one pass, whatever it
/// holds.
struct LoginPage: Sendable {
    /// Octets of a page that are read.
    static let largest = 256 * 1024
    private static let mostForms = 16
    private static let mostFields = 128
    /// The limit for alerts that say nothing.
    private static let mostAlerts = 8
    /// Characters of what a page says.
    private static let longestWords = 200

    struct Field: Hashable, Sendable {
        let name: String
        /// Lower case: `text`, `password`, `hidden` and so on.
        let type: String
        var value: String
    }

    struct Form: Hashable, Sendable {
        /// As it stands there; empty: the page's own address.
        var action = ""
        var isPost = false
        /// In the page's order, with the first button that sends the form, as a browser sends it when a person presses Enter.
        var fields: [Field] = []
        fileprivate var hasButton = false
    }

    private(set) var forms: [Form] = []
    private(set) var title = ""
    /// The text that the page marks as an alert.
    private(set) var alert = ""

    init(_ body: [UInt8]) {
        var reader = MarkupReader(body.prefix(Self.largest))
        var isInForm = false
        var alerts = 0
        while let tag = reader.nextTag() {
            switch tag.name {
            case "form" where forms.count < Self.mostForms:
                forms.append(Form(action: tag["action"] ?? "", isPost: tag["method"]?.lowercased() == "post"))
                isInForm = true
            case "/form": isInForm = false
            case "input", "button":
                if isInForm, forms[forms.count - 1].fields.count < Self.mostFields { add(tag) }
            case "title" where title.isEmpty: title = reader.words(most: Self.longestWords)
            case "script", "style": reader.skip(to: tag.name)
            default: break
            }
            if alert.isEmpty, alerts < Self.mostAlerts, tag["role"]?.lowercased() == "alert" {
                alerts += 1
                alert = reader.words(until: tag.name, most: Self.longestWords)
            }
        }
    }

    private mutating func add(_ tag: MarkupReader.Tag) {
        let last = forms.count - 1
        let type = tag["type"]?.lowercased() ?? (tag.name == "button" ? "submit" : "text")
        switch type {
        case "submit", "image":
            guard !forms[last].hasButton else { return }
            forms[last].hasButton = true
        case "button", "reset", "file": return
        case "checkbox", "radio": guard tag["checked"] != nil else { return }
        default: break
        }
        guard let name = tag["name"], !name.isEmpty, tag["disabled"] == nil else { return }
        forms[last].fields.append(Field(name: name, type: type, value: tag["value"] ?? (type == "checkbox" ? "on" : "")))
    }
}

extension LoginPage.Form {
    /// Types of fields that a person types a name into.
    private static let texts: Set<String> = ["text", "email", "tel", "username"]

    var hasPassword: Bool { fields.contains { $0.type == "password" } }

    /// A page between two others, which a script or a person's click sends on.
    var isCarrier: Bool { !fields.isEmpty && fields.allSatisfy { $0.type == "hidden" || $0.type == "submit" } }

    /// Returns where user and password go.
    /// - Parameters:
    ///   - user: Name of the user's field; empty: the last one for a text before the password, or the last one at all.
    ///   - password: Name of the password's field; empty: the first one for passwords.
    /// - Returns: `nil`: it is no form for a login. A form without a password's place asks for the user first.
    func places(user: String, password: String) -> (user: Int?, password: Int?)? {
        let secret = fields.firstIndex { password.isEmpty ? $0.type == "password" : $0.name == password }
        let before = fields[..<(secret ?? fields.count)]
        let name = user.isEmpty ? before.lastIndex { Self.texts.contains($0.type) } : fields.firstIndex { $0.name == user }
        return name == nil && secret == nil ? nil : (name, secret)
    }

    var encoded: String { FormEncoding.encode(fields.map { ($0.name, $0.value) }) }
}
