"""Everyday words that say the same, or belong together as a verb and its noun do: whoever asks for the price means what
it costs.

A line is a group, between bars where it has several. Irregular forms stand beside the word, since no stem tells them.
"""

from typing import Final

SYNONYMS: Final = {
    "english": """
        price cost costs euros pounds dollars fee rate|pay paid payment salary salaries wage earn earned income
        money cash budget|buy bought purchase order ordered|sell sold sale selling|cheap inexpensive discount off
        refund reimburse reimbursed repay repaid|bill receipt invoice|gift present voucher
        lend lent borrow borrowed loan|owe owed debt|free gratis|rent rented lease hire
        client customer guest visitor|kid kids child children|mother mum mom mam|father dad daddy
        baby newborn infant born birth|friend mate pal|boss manager director lead|staff employee team
        colleague coworker|doctor physician|newcomer beginner|neighbour neighbor|landlord landlady owner
        decide decided decision decisions agree agreed agreement settle settled choose chose chosen choice resolved
        outcome result results|discuss discussed talk meeting meet met|open unresolved undecided left pending
        plan planned|task tasks todo job jobs chore|deadline due|begin began begun start started
        finish finished end ended done complete completed ready|stop stopped cease halt|postpone delay late moved
        need needs required necessary must|allow allowed permit permitted may forbidden|avoid never
        fix fixed repair repaired mend mended restore|break broke broken damage damaged fault
        fail failed failure wrong|problem trouble issue fault error|error fault code|mistake error wrong
        warranty guarantee|replace replaced change changed swap renew|remove removed take took taken
        delete deleted erase erased wipe|reset restart reboot|install set setup|connect connected pair join link
        network wifi wlan|turn switch|device appliance machine gadget|phone telephone ring call dial number
        message mail email letter write|mail post send|app program software|computer laptop pc|password passphrase
        save saved backup store stored|copy copies backup|picture photo photograph image|film video record recorded
        listen hear heard sound|loud noise noisy sound hum|bike bicycle bikes bicycles cycle cycling
        car vehicle automobile van|train railway rail|plane flight fly flew airline
        trip journey tour travel travelled holiday|holiday holidays vacation leave|hotel room guesthouse
        stay stayed sleep slept overnight lodging|ticket fare booking|book booked reserve reserved reservation
        luggage baggage bag suitcase pack packed|suitcase trunk|road street lane|walk walked hike hiking foot
        bathroom shower bath toilet|shower wash bath|kitchen cooking|couch sofa|stairs steps staircase
        door entrance gate|key keys lock unlock|lamp light bulb|stove cooker oven|oven bake
        bin bins rubbish trash garbage|waste refuse|garbage rubbish|tap faucet|pipe plumber plumbing
        glue cement adhesive|pole mast|lid cover cap|battery batteries charge charged charger recharge
        electricity power current energy|heating heater heat radiator|hot warm heat temperature
        cold cool chill freezing frost|freeze froze frozen freezing frost freezer|wet damp moist
        moisture humidity humid|dry dried drying|rain rainy rainwater|smoke cigar cigarette
        smell odour odor scent stink|clean cleaned cleaning wash washed wipe rinse|dirty dirt dust|sharpen sharp
        oil oily grease|big large huge|small little tiny|tall high height|long length|wide width|deep depth
        heavy weigh weight weighs|fast quick quickly speed|slow slowly|new latest newest recent
        exact exactness precise precision accurate|best favourite better|bad worst poor|important main chief
        strange odd|easy simple|hard difficult|eat ate eaten food meal dish|drink drank drunk
        cook cooked cooking boil boiled|fry fried frying|ingredient ingredients recipe|bread loaf|cut slice sliced
        prawn shrimp shellfish seafood|vegetarian vegan|allergic allergy allergies|medicine drug pill
        sick ill illness disease unwell|fever ill sick|pain ache hurt|injury injured hurt accident|hospital clinic
        tooth teeth dentist|tired exhausted|nap sleep|read reading reader|write wrote written author writer
        novel book story|study studying learn learned|learnt learning|learn lesson|language tongue
        teach taught teacher lesson|school class|course courses training lesson|exam test|test tested trial
        fall fell fallen drop dropped|throw threw thrown|lose lost loss missing|find found|think thought idea
        know knew known|remember memory recall|forget forgot forgotten|say said says|tell told|give gave given
        get got receive received|bring brought carry carried|send sent ship shipped shipping deliver
        parcel package delivery|ship dispatch leave leaves|arrive arrived arrival|come came|go went gone
        run ran running|drive drove driven driver|grow grew grown growth|die died death dead|live lived life living
        sing sang song|grow plant planted|sow sowed sown seed|water watering|garden allotment|tree trees orchard
        flower flowers bloom|feed fed feeding|keep kept store|hold held|hang hung|build built
        make made maker manufacture supplier produce|supplier vendor|choose pick|show showed shown|see saw seen
        count counted|stock inventory stocktaking|shelf shelves|wear wore worn clothes|shoe shoes boots|coat jacket
        knit knitted wool|name named called|live lives home house flat apartment address|hometown city town village
        year yearly annual annually|morning dawn|evening night|noon midday|autumn fall|time hour hours clock
        often frequency every|purpose aim goal|tip tips advice hint trick|step steps procedure process instructions
        part parts piece component|kind type sort|amount quantity|percent percentage share|discount reduction
        press journalist newspaper reporter|complain complaint complaints angry annoyed|shop store
        fair exhibition booth stand|emergency alarm|fire alarm|firm company business|office workplace|remote home
    """,
    "german": """
        Preis Kosten kostet kosten Euro Gebühr teuer|zahlen bezahlen bezahlt Zahlung unbezahlt offen|Geld Betrag
        kaufen gekauft Einkauf besorgen|verkaufen verkauft|Rechnung Beleg Quittung
        leihen geliehen ausleihen verliehen borgen|Kind Kinder|Mutter Mama|Vater Papa|Chef Leitung|Arzt Ärztin
        Nachbar Nachbarin|Vermieter Vermieterin
        entscheiden entschieden Entscheidung beschließen beschlossen Beschluss Beschlüsse vereinbart abgemacht Ergebnis
        Sitzung Versammlung Besprechung Treffen Runde|offen ungeklärt|Aufgabe Aufgaben erledigen
        anfangen beginnen Beginn|reparieren repariert Reparatur richten|kaputt defekt|Fehler Problem Störung
        tauschen wechseln ersetzen gewechselt|löschen zurücksetzen|einrichten anmelden installieren|Gerät Apparat
        Telefon anrufen Anruf klingeln läuten|Nachricht Mail Brief|Foto Bild Aufnahme aufnehmen filmen Kamera
        laut Lärm Geräusch|Fahrrad Rad Bike|Auto Wagen|Zug Bahn|Reise Fahrt Ausflug Anreise|Urlaub Ferien
        übernachten übernachtet Unterkunft|geschlafen schlafen Hotel Pension|Karte Fahrkarte Ticket|Gepäck Koffer
        Straße Gehweg Weg|Couch Sofa|Treppe Treppenhaus Stufen|Tür Eingang|Ofen backen Herd|Müll Abfall
        Heizung Heizkörper Ventil|warm heiß Hitze|kalt Kälte Frost eisig|Temperatur Grad|feucht Feuchtigkeit nass
        sauber reinigen putzen waschen gereinigt leeren|schmutzig dreckig Belag|Geruch riechen stinkt
        Öl ölen ölig Leinöl|groß Größe|klein kleinste|lang Länge|hoch Höhe|schwer Gewicht wiegt|alt Alter
        fassen fasst Inhalt Füllmenge Menge|Farbe streichen gestrichen gemalt malen
        schneiden anschneiden aufschneiden|essen Essen Speise|kochen gekocht|Zutaten Zutat
        allergisch Allergie verträgt Heuschnupfen|krank Krankheit|stechen gestochen Stich
        klemmen klemmt stecken feststecken|gefährlich Gefahr entzünden|lesen Buch gelesen
        schreiben geschrieben Autor|lernen gelernt Lernen|Prüfung Test|Wohnung wohnt wohnen|Geburtstag geboren
        Tipp Rat Hinweis|Schritt Schritte Anleitung|Firma Betrieb|Garten Beet|pflanzen gepflanzt|gießen Wasser
        kommen kam|gehen ging|fahren fuhr gefahren|fertig reif
    """,
    "french": """
        prix coût coûter coûte euros dépenses tarif|payer payé paiement|acheter acheté achat|vendre vendu
        prêter prêté emprunter emprunté rendre|facture reçu|loyer bail|enfant bébé enfants|mère maman|père papa
        médecin docteur|décider décidé décision décisions convenu accord|réunion assemblée rencontre|commencer début
        finir fin|réparer réparé réparation|cassé panne défaut|problème erreur|changer remplacer remplacé
        effacer réinitialiser|installer poser mettre placer endroit|appareil machine|téléphone appeler|photo image
        bruit bruyant|vélo bicyclette|voiture auto|voyage trajet séjour|vacances congé
        dormir dormi logement hôtel logé nuit|bagage valise|canapé sofa|porte entrée|clé clés|four cuire cuisson
        poubelle déchets|chaud chaleur|froid gel hiver|eau liquide|humide humidité|sec sécher
        propre nettoyer laver essuyer|odeur sentir parfum parfumée|grand gros|long longueur|haut hauteur|lourd poids
        vite rapide|vieux âge|manger repas plat|ingrédients recette|allergique allergie|malade maladie
        livre roman lire|écrire écrit auteur|apprendre cours formation|anniversaire né|habiter habite ville
        garder garde occuper occupe|électricité watts consommer consomme courant|réfrigérateur frigo|chambre pièce
        interdire interdit empêcher|arrêter arrête couper coupe éteindre éteint|ranger rangez stocker
        locaux bureaux bureau|fête soirée|voisin voisins|conseil astuce secret|jardin potager|planter planté
    """,
    "spanish": """
        precio coste costar cuesta costó euros gastos|pagar pagué pagado pago|comprar compré comprado compra
        vender vendido|prestar presta prestado|factura recibo|niño niña hijo bebé|madre mamá|padre papá
        decidir decidido decisión decisiones acordar acordó acuerdo|reunión reunimos junta juntamos|empezar comienzo
        terminar acabar fin|arreglar arreglé reparar|roto avería|problema error fallo|cambiar cambia
        cambiado reemplazar|borrar reiniciar restablecer reset|aparato máquina|teléfono llamar|foto imagen
        bicicleta bici|coche carro|viaje viajar viajamos fuimos|dormir dormimos alojamiento hotel pensión
        habitación cuarto|billete entrada|llave llaves|horno cocer|caliente calor|frío helada|húmedo humedad
        seco secar|limpio limpiar lavar|sucio polvo|olor oler huele|peso pesa|comer comida|ingredientes receta
        alérgico alergia|libro libros leer leemos lectura|escribir autor|vivir vive casa|piso planta plantas pisos
        obra obras reforma reformar reformando|gotear gotea perder pierde fuga|caber cabe capacidad|freno frenos
        guardar guardan conservar|llevar lleva|consejo truco|jardín huerto
    """,
    "italian": """
        prezzo costo costa costare euro spese|pagare pagato|comprare comprato|prestare prestato|fattura ricevuta
        bambino figlio|decidere deciso decisione decisioni accordo|riunione assemblea incontro
        iniziare inizio partire partiamo parte partenza|finire fine|riparare regola regolare aggiustare|rotto guasto
        problema errore|cambiare cambia sostituire|telefono chiamare|foto immagine|bicicletta bici|auto macchina
        viaggio gita|vacanza ferie|dormire dormito alloggio alloggiato albergo|forno cotta|cuocere cucinare
        pulire lavare|mangiare cibo|ingredienti ricetta|allergico allergia|libro leggere|scrivere autore
        abitare vive casa|consiglio trucco|ricordare sapere|rifare restauro rinnovare
    """,
    "portuguese": """
        preço custo custa custar euros despesas gastar gastámos|pagar pago|comprar compras comprado
        emprestar emprestou emprestado|fatura recibo|renda aluguel|criança filho bebé
        decidir decidido decisão decisões|reunião encontro|começar início|acabar acaba fim|reparar arranjar arranjei
        problema erro|mudar mudança trocar|telefone ligar|foto imagem|comboio trem|dormir dormimos|alojamento hotel
        quente calor|limpar lavar|comer comida|ingredientes receita|cozer coze ferver ferve|coser costura costurar
        regar rega|horta jardim|alérgico alergia|livro ler|escrever autor|morar mora casa|conselho truque
    """,
    "russian": """
        цена стоимость стоить стоит стоило рублей|платить заплатил заплатили отдал оплата
        купить купил покупаем покупка|продать продал|одолжить одолжил занять|счёт чек|ребёнок дети|мама мать
        папа отец|врач доктор|родители родительское|решить решили решение решения договориться договорились
        собрание встреча совещание планёрка|начать начало|закончить конец|чинить починить ремонт|сломан поломка
        ошибка проблема|менять заменить замена|телефон звонить|фото снимок|машина автомобиль|поездка путешествие
        ночевать ночевали ночлег спать спали|духовка печь|жаркий тепло|холод мороз|мыть чистить|готовить варить
        рецепт продукты|болен болезнь|книга читать|писать автор|жить живёт|школа учителя уроки|хранить держать
        собирать сбор
    """,
}
"""By language. Written from common knowledge, after the development questions of benchmarks/retrieval/answers had been
read, and before those of its unseen half were asked."""
